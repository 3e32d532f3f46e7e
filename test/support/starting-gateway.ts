import {
  type AuthStrategy,
  createGateway,
  definePlugin,
  type Gateway,
  type GatewayOptions,
  type JsonObject,
  type PlanInput,
  type PushBackends,
  untilAborted,
} from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestClient, testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { FAKE_PROGRAM, fakeSpawn } from '../../core/testing/fake-process.ts';

/** A gateway that has not settled, with a source that the test controls. */
export interface StartingGateway {
  readonly gateway: Gateway;
  readonly modern: TestClient;
  list(): Promise<{ result: JsonObject; error?: JsonObject }>;
  push: PushBackends;
}

/** A backend that `startingGateway` finds among its servers. */
export const program = (name: string) =>
  ({ name, transport: 'stdio', command: { file: `${FAKE_PROGRAM}${name}`, args: [] } }) as const;

/** Starts a gateway; `begin` gives its first backends. It stops when the test has finished. */
export async function startingGateway(
  servers: Readonly<Record<string, FakeServer>>,
  begin: (push: PushBackends) => void,
  limits: PlanInput['limits'] = {},
  options: Pick<GatewayOptions, 'listStore' | 'log'> & { readonly authStrategy?: AuthStrategy } = {},
): Promise<StartingGateway> {
  const { authStrategy, ...others } = options;
  let push: PushBackends = () => {};
  const source = definePlugin({
    address: 'test/source',
    config: z.strictObject({}),
    apply(core) {
      core.slots.backendSources.register('test/source', {
        watch: (given, signal) => {
          push = given;
          begin(given);
          return untilAborted(signal);
        },
      });
      if (authStrategy !== undefined) core.slots.authStrategies.register('test/strategy', authStrategy);
    },
  });
  const uses = ['incoming-auth/anonymous', 'outgoing-auth/unauthenticated', 'test/source'];
  const gateway = await createGateway(
    {
      ...{ name: 'test', plugins: uses.map((use) => ({ use })), limits },
      ...(authStrategy === undefined ? {} : { outgoingAuth: { default: { type: 'test/strategy' } } }),
    },
    { catalogue, plugins: [source], spawn: fakeSpawn(new Map(Object.entries(servers))), ...others },
  );
  onTestFinished(() => gateway.stop());
  const modern = await testClient((request) => gateway.fetch(request), 'http://localhost/mcp');
  const list = async () => (await modern.request('tools/list')) as { result: JsonObject; error?: JsonObject };
  return { gateway, modern, list, push: (...given: Parameters<PushBackends>) => push(...given) };
}

/** Lists its tool only when it is told to. */
export function heldServer(tool: string) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const server = fakeServer(['2026-07-28']).tool(tool);
  server.on('tools/list', async () => {
    await promise;
    return { tools: [{ name: tool, inputSchema: { type: 'object' } }], ttlMs: 0, cacheScope: 'private' };
  });
  return { server, release };
}
