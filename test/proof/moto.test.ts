import type { Caller } from '@toolmgr/core';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAwsSts } from '../../plugins/outgoing-auth/aws-sts/strategy.ts';
import { base64url } from '../support/identity-provider.ts';
import { type Moto, startMoto } from '../support/moto.ts';
import { authServerSlots, headersOf, NEVER } from '../support/outgoing-auth.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';

const TIMEOUT_MS = 180_000;
const ACCOUNT = 'arn:aws:iam::123456789012:role/';
const POLICY = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] });
const OPTIONS = {
  region: 'us-east-1',
  service: 'sts',
  roleMappings: [{ roleArn: `${ACCOUNT}admin`, claim: 'admins' }],
  fallbackRoleArn: `${ACCOUNT}reader`,
};

const found = rig('moto');

describe.skipIf('missing' in found)(
  `AWS STS of moto${'missing' in found ? ` (skipped: ${found.missing})` : ''}`,
  () => {
    let moto: Moto;

    beforeAll(async () => {
      if (!('folder' in found)) return;
      moto = await startMoto(found.folder, 6); // two roles with policies, two AssumeRoleWithWebIdentity
      for (const RoleName of ['admin', 'reader']) {
        const version = { Version: '2010-05-08', RoleName };
        expect(await moto.unsigned('iam', { Action: 'CreateRole', AssumeRolePolicyDocument: POLICY, ...version })).toBe(
          200,
        );
        const put = { Action: 'PutRolePolicy', PolicyName: 'all', PolicyDocument: POLICY, ...version };
        expect(await moto.unsigned('iam', put)).toBe(200);
      }
      vi.stubEnv('AWS_ENDPOINT_URL_STS', moto.url);
    }, TIMEOUT_MS);
    afterAll(() => moto?.[Symbol.asyncDispose]());

    proves(
      ['vmcp.aws-sts.subject-provider-name', 'vmcp.aws-sts.role-claim', 'vmcp.aws-sts.service'],
      'signs requests with credentials of the role of each caller, and the signatures are verified there',
      async () => {
        const jwt = secretOf(`${base64url({ alg: 'none' })}.${base64url({ sub: 'ada' })}.c2ln`);
        const { slot, ada, bob } = await authServerSlots({
          known: () => ({ accessToken: jwt, issuedMs: 0, expiresMs: undefined, claims: {} }),
        });
        const strategy = createAwsSts({ slot, now: Date.now, environment: process.env });
        const authorizer = await strategy.prepare(OPTIONS, 'outgoingAuth.default');
        const admin = { ...ada, claims: { ...ada.claims, groups: ['admins'] } };
        // both roles are assumed now: moto counts every action, signed or not, as one of the first ones
        for (const caller of [admin, bob]) await headersOf(authorizer, caller, { backend: 'aws' });
        const send = async (caller: Caller, change: (headers: Record<string, string>) => void = () => undefined) => {
          const body = Buffer.from('Action=GetCallerIdentity&Version=2011-06-15');
          const backend = { name: 'aws', transport: 'streamable-http' } as const;
          const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
          const request = { backend, method: 'POST', url: `${moto.url}/`, body, headers } as const;
          await authorizer.apply(request, { caller, purpose: 'call', signal: NEVER });
          change(headers);
          const answer = await fetch(request.url, { method: 'POST', headers, body });
          return { status: answer.status, text: await answer.text() };
        };
        const ofAda = await send(admin);
        expect(ofAda.text).toContain(`:assumed-role/admin/${ada.subject}`);
        expect(ofAda.status).toBe(200);
        const ofBob = await send(bob);
        expect(ofBob.text).toContain(`:assumed-role/reader/${bob.subject}`);
        const forged = await send(bob, (headers) => {
          headers.authorization = headers.authorization?.replace(/Signature=.{8}/, 'Signature=00000000') ?? '';
        });
        expect(forged).toMatchObject({ status: 403, text: expect.stringContaining('SignatureDoesNotMatch') });
        await strategy.close();
      },
      TIMEOUT_MS,
    );

    it('refuses what is not signed', async () => {
      const form = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
      expect(await moto.unsigned('sts', form)).toBe(403);
    });
  },
);
