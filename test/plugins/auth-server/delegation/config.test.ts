import { fieldPath } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { delegationFields } from '../../../../plugins/auth-server/delegation/config.ts';
import { delegationProblems } from '../../../../plugins/auth-server/delegation/cross-checks.ts';

const config = z.strictObject(delegationFields);
const client = { clientId: 'agent', clientSecretRef: { env: 'AGENT_SECRET' } };
const issuer = {
  issuer: 'https://id.example',
  expectedAudience: 'https://gw.example/mcp',
  allowedDelegateClients: ['agent'],
};
const binding = { subject: 'robot', resources: ['https://gw.example/mcp'] };

const messageOf = (given: object): string => {
  const { error } = config.safeParse(given);
  return error === undefined
    ? ''
    : error.issues.map(({ path, message }) => `${fieldPath(path)}: ${message}`).join('\n');
};

describe('configuration of delegation', () => {
  it('has defaults', () => {
    expect(config.parse({})).toEqual({ delegateClients: [], trustedIssuers: [], delegationTokenLifespan: 900_000 });
    const { trustedIssuers } = config.parse({
      trustedIssuers: [{ ...issuer, jwtBearer: { subjectBindings: [binding] } }],
    });
    expect(trustedIssuers[0]).toMatchObject({ allowMayAct: false, jwtBearer: { maxAssertionAge: 300_000 } });
  });

  it.each<[string, object, string]>([
    [
      'an id that a registration may get',
      { delegateClients: [{ ...client, clientId: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff' }] },
      'expected no UUID',
    ],
    ['a URL as id', { delegateClients: [{ ...client, clientId: 'https://a.example/x' }] }, 'clientId'],
    ['a client twice', { delegateClients: [client, client] }, 'delegateClients[1].clientId: is a duplicate'],
    ['an issuer twice', { trustedIssuers: [issuer, issuer] }, 'trustedIssuers[1].issuer: is a duplicate'],
    [
      'an issuer with plain http',
      { trustedIssuers: [{ ...issuer, issuer: 'http://id.example' }] },
      'insecureAllowHTTP allows it',
    ],
    [
      'an issuer with a private address',
      { trustedIssuers: [{ ...issuer, issuer: 'https://10.0.0.1' }] },
      'jwksAllowPrivateIP allows it',
    ],
    [
      'an issuer without use',
      { trustedIssuers: [{ issuer: 'https://id.example' }] },
      'expected at least one client, or jwtBearer',
    ],
    [
      'no expected audience',
      { trustedIssuers: [{ ...issuer, expectedAudience: undefined }] },
      'expectedAudience: missing',
    ],
    [
      'may_act for every client',
      { trustedIssuers: [{ ...issuer, allowedDelegateClients: ['*'], allowMayAct: true }] },
      'allowMayAct: expected false',
    ],
    [
      'may_act for every client among others',
      { trustedIssuers: [{ ...issuer, allowedDelegateClients: ['agent', '*'], allowMayAct: true }] },
      'allowMayAct: expected false',
    ],
    [
      'an expression that is not CEL',
      { trustedIssuers: [{ ...issuer, actorMatcher: 'claims.' }] },
      'actorMatcher: expected a CEL expression',
    ],
    [
      'a long expression',
      { trustedIssuers: [{ ...issuer, actorMatcher: `"${'a'.repeat(4096)}" == claims.x` }] },
      'at most 4096',
    ],
    [
      'a pattern that takes exponential time',
      { trustedIssuers: [{ ...issuer, actorMatcher: 'claims.x.matches("(a+)+$")' }] },
      'exponential time',
    ],
    ['a long lifetime', { delegationTokenLifespan: '25h' }, 'expected at most 24h'],
    [
      'no subject',
      { trustedIssuers: [{ ...issuer, jwtBearer: { subjectBindings: [] } }] },
      'expected at least one subject',
    ],
  ])('refuses %s', (_what, given, words) => {
    expect(messageOf(given)).toContain(words);
  });

  it('refuses names that the rest of the configuration does not have', () => {
    const given = config.parse({
      delegateClients: [{ ...client, scopes: ['root'], audiences: ['https://x.example'] }],
      trustedIssuers: [
        { ...issuer, issuer: 'https://gw.example', allowedDelegateClients: ['other', '*'] },
        {
          issuer: 'https://two.example',
          jwtBearer: { subjectBindings: [{ ...binding, resources: ['https://x.example'] }] },
        },
      ],
    });
    const facts = {
      issuer: 'https://gw.example',
      allowedAudiences: ['https://gw.example/mcp'],
      supportedScopes: ['openid'],
    };
    expect(delegationProblems(given, facts).map(({ path }) => fieldPath(path))).toEqual([
      'delegateClients[0].scopes[0]',
      'delegateClients[0].audiences[0]',
      'trustedIssuers[0].issuer',
      'trustedIssuers[0].allowedDelegateClients[0]',
      'trustedIssuers[1].jwtBearer.subjectBindings[0].resources[0]',
    ]);
  });
});
