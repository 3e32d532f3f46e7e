import { createGateway, definePlugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { upstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { loopbackServer } from '../../support/loopback-server.ts';

import { pluginCore } from '../../support/plugin-core.ts';

/** A server that refuses every request. */
async function refusing(): Promise<string> {
  const server = await loopbackServer((_request, response) => void response.writeHead(401).end());
  onTestFinished(() => server[Symbol.asyncDispose]());
  return `${server.url}/mcp`;
}

const tokensOfPeople = definePlugin({
  address: 'testing/tokens',
  config: z.strictObject({}),
  apply({ slot }) {
    slot(upstreamTokens).register('auth-server', {
      providers: ['idp'],
      primary: 'idp',
      isInjectionDisabled: false,
      known: () => undefined,
      refused: () => false,
      obtain: () => Promise.reject(new Error('no caller')),
      signInAgain: () => Promise.reject(new Error('no caller')),
    } as never);
  },
});

it('a backend that refuses requests without a caller is no problem when its credentials are those of callers', async () => {
  const url = await refusing();
  const { log, lines } = pluginCore();
  const gateway = await createGateway(
    {
      plugins: [
        { use: 'testing/tokens' },
        { use: 'incoming-auth/anonymous' },
        ...['unauthenticated', 'upstream-inject'].map((name) => ({ use: `outgoing-auth/${name}` })),
        {
          use: 'backend-sources/static',
          with: { backends: ['plain', 'theirs'].map((name) => ({ name, url, transport: 'streamable-http' })) },
        },
        { use: 'aggregation', with: { conflictResolution: 'prefix' } },
      ],
      outgoingAuth: {
        default: { type: 'unauthenticated' },
        backends: { theirs: { type: 'upstream_inject', options: { providerName: 'idp' } } },
      },
    },
    { catalogue, plugins: [tokensOfPeople], log },
  );
  onTestFinished(() => gateway.stop());
  await gateway.settled();
  expect(gateway.backends().map(({ backend, status, needsCaller }) => [backend.name, status, needsCaller])).toEqual([
    ['plain', 'unauthenticated', undefined],
    ['theirs', 'unauthenticated', true],
  ]);
  expect(lines.filter((line) => JSON.stringify(line).includes('backend is unavailable'))).toHaveLength(1);
});
