// The gateway of the apps that the test of the packages installs into a new folder. It imports what a user imports.
import { fileURLToPath } from 'node:url';
import { createGateway, definePlugin, type Gateway, untilAborted } from '@toolmgr/core';
import { z } from 'zod';

const own = definePlugin({
  address: 'app/own',
  config: z.strictObject({ greeting: z.string() }),
  apply({ hooks, slots }, { greeting }) {
    hooks.authenticate.tap('app/own', () => ({ issuer: '', subject: 'me', key: 'me', claims: {} }));
    slots.authStrategies.register('unauthenticated', { prepare: async () => ({ apply: () => {} }) });
    const command = { file: process.execPath, args: [fileURLToPath(import.meta.resolve('./server.mjs')), greeting] };
    slots.backendSources.register('app/own', {
      async watch(push, signal) {
        push([{ name: 'greeter', transport: 'stdio', command }]);
        await untilAborted(signal);
      },
    });
  },
});

export const gateway: Gateway = await createGateway(
  { name: 'app', plugins: [{ use: 'app/own', with: { greeting: 'hello' } }] },
  { plugins: [own] },
);

// @ts-expect-error a request is no text; without this error the types of the package would be `any`
export const wrong: () => unknown = () => gateway.fetch('http://localhost/mcp');

/** Calls the tool at the URL, prints the answer, and ends. */
export async function callAndEnd(url: string): Promise<void> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'app', version: '1.0.0' },
  };
  const params = { name: 'greet', arguments: {}, _meta: meta };
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'greet',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  console.log(await answer.text());
  await gateway.stop();
  process.exit(0);
}
