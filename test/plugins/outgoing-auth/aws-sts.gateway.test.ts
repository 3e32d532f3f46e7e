import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createGateway, type Era } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { afterEach, describe, expect, onTestFinished, vi } from 'vitest';
import { answer, type Got, httpServer, json, legacyAnswers, modernAnswers } from '../../core/backend/support.ts';
import { type AwsSts, awsSts, roleOfSignature } from '../../support/aws-sts.ts';
import { bearerCallers } from '../../support/bearer-callers.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const satisfies readonly Era[];
const SCOPE = { region: 'eu-central-1', service: 'aws-mcp' };
const ROLE = 'arn:aws:iam::123456789012:role/reader';
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

afterEach(() => vi.unstubAllEnvs());

/** A backend that answers only requests that are signed with credentials of this STS. */
async function signedBackend(sts: AwsSts, era: Era) {
  const seen: string[] = [];
  const before = (got: Got): boolean => {
    const { method, path: target, headers, body } = got;
    seen.push(`${method} ${headers.authorization?.split(' ', 1)[0] ?? 'unsigned'}`);
    const role = roleOfSignature({ method, target, headers, body: Buffer.from(body) }, sts, SCOPE);
    if (role === undefined) json(got.response, { message: 'The request signature is wrong' }, 401);
    else if (got.message?.method !== 'tools/call') return false;
    else answer(got, { content: [{ type: 'text', text: role }], resultType: 'complete' });
    return true;
  };
  const make = era === '2026-07-28' ? modernAnswers : legacyAnswers;
  const tools = [{ name: 'who', inputSchema: { type: 'object' } }];
  return { ...(await httpServer(make({ tools, before }))), seen };
}

async function gatewayTo(url: string, sts: AwsSts): Promise<string> {
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url);
  const callers = new Map([['token-of-ada', 'ada']]);
  const options = { region: SCOPE.region, fallbackRoleArn: ROLE, sessionNameClaim: 'name' };
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'testing/bearer-callers' },
        { use: 'outgoing-auth/aws-sts' },
        { use: 'backend-sources/static', with: { backends: [{ name: 'far', url, transport: 'streamable-http' }] } },
        { use: 'aggregation', with: { conflictResolution: 'prefix' } },
      ],
      outgoingAuth: { default: { type: 'aws_sts', options } },
    },
    { catalogue, plugins: [bearerCallers(callers, { name: 'ada' })], log: SILENT },
  );
  onTestFinished(() => gateway.stop());
  await gateway.settled();
  const server = await loopbackServer((request, response) => gateway.handle(request, response));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return `${server.url}/mcp`;
}

describe('a backend of AWS', () => {
  for (const era of ERAS) {
    proves(
      ['vmcp.aws-sts.region', 'vmcp.aws-sts.service'],
      `of ${era} gets only signed requests of callers, also to open and to end their sessions`,
      async () => {
        const sts = await awsSts();
        onTestFinished(() => sts[Symbol.asyncDispose]());
        sts.tokens.add('token-of-ada');
        const far = await signedBackend(sts, era);
        const url = await gatewayTo(far.url, sts);
        for (const clientEra of ERAS) {
          const mode = clientEra === '2026-07-28' ? { pin: clientEra } : ('legacy' as const);
          const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
          const headers = { authorization: 'Bearer token-of-ada' };
          await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
          expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['far_who']);
          const result = await client.callTool({ name: 'far_who', arguments: { text: 'ü' } });
          expect(result.content).toEqual([{ type: 'text', text: ROLE }]);
          await client.close();
        }
        expect(sts.requests.map(({ RoleSessionName: name }) => name)).toEqual(['ada']);
        expect(far.seen).toContain('POST AWS4-HMAC-SHA256');
        expect(far.seen.filter((line) => line.includes('Bearer'))).toEqual([]);
      },
    );
  }
});
