import { createGateway } from '@toolmgr/core';
import { testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, onTestFinished } from 'vitest';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const NOT_LISTENING = 'http://127.0.0.1:9/mcp';

/** A gateway with one available and one unavailable backend. */
async function gatewayWith(plugins: readonly { readonly use: string }[]) {
  const here = await recordingServer();
  onTestFinished(() => here[Symbol.asyncDispose]());
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: 'aggregation' },
        {
          use: 'backend-sources/static',
          with: {
            backends: [
              { name: 'here', url: here.url, transport: 'streamable-http' },
              { name: 'gone', url: NOT_LISTENING, transport: 'streamable-http' },
            ],
          },
        },
        ...plugins,
      ],
    },
    { catalogue, log: SILENT },
  );
  onTestFinished(() => gateway.stop());
  await gateway.settled();
  return { here, client: await testClient((request) => gateway.fetch(request), 'http://localhost/mcp') };
}

describe('partial-failure', () => {
  proves(
    'choice.partial-failure.default',
    'answers lists with an error that names the unavailable backend, and still sends calls to others',
    async () => {
      const { here, client } = await gatewayWith([{ use: 'partial-failure' }]);
      const { error, result } = await client.request('tools/list');
      expect(result).toBeUndefined();
      expect(error?.message).toMatch(/missing: gone \(/);
      expect(error?.message).not.toContain('here');
      expect(await client.callTool('here_add', { a: 1, b: 2 })).not.toHaveProperty('isError', true);
      expect(here.calls).toHaveLength(1);
    },
  );

  proves('choice.partial-failure.default', 'is the cause: without it the available tools are listed', async () => {
    const { client } = await gatewayWith([]);
    expect(await client.toolNames()).toContain('here_add');
  });
});
