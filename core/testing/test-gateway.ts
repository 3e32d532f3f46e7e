import { z } from 'zod';
import type { Backend } from '../contract/backend.ts';
import { ANONYMOUS } from '../extension/anonymous.ts';
import { createLog } from '../extension/log.ts';
import { definePlugin, type Plugin } from '../extension/plugin.ts';
import { createGateway, type GatewayOptions } from '../gateway/assemble.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { PlanInput } from '../gateway/plan.ts';
import { FAKE_PROGRAM, fakeSpawn } from './fake-process.ts';
import type { FakeServer } from './fake-server.ts';
import { pushSource } from './push-source.ts';
import { type TestClient, type TestClientOptions, testClient } from './test-client.ts';

/** A gateway in memory. Dispose of it: `await using kit = await testGateway(…)`, or on Node 22 `kit.gateway.stop()`. */
export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  /** A client over `gateway.fetch`: no sockets. */
  client(options?: TestClientOptions): Promise<TestClient>;
  /** Replaces the backends like a backend source. */
  setBackends(backends: TestBackends): void;
  /** Logged warnings and errors. */
  readonly logged: readonly string[];
}

/** Backends by name: fake servers, or descriptions of real ones. */
export type TestBackends = Readonly<Record<string, FakeServer | Omit<Backend, 'name'>>>;

/** Settings of a test gateway; all have defaults. */
export interface TestGatewayOptions extends Omit<GatewayOptions, 'spawn' | 'log'> {
  readonly backends?: TestBackends;
  readonly plan?: Partial<PlanInput>;
}

/**
 * Makes a gateway with an anonymous caller and no outgoing credentials, with the given plugins and backends.
 *
 * The two defaults are not used when a plugin of the plan authenticates callers or provides the strategy.
 * Boots in well under 150 ms: nothing listens and no process starts unless a backend describes a real one.
 */
export async function testGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { backends = {}, plan = {}, plugins = [], ...rest } = options;
  const logged: string[] = [];
  const servers = new Map<string, FakeServer>();
  const source = pushSource(describe(backends, servers));
  const used = plan.plugins ?? plugins.map(({ address }) => ({ use: address }));
  const gateway = await createGateway(
    {
      ...plan,
      // the defaults last, when it is known what the other plugins provide
      plugins: [{ use: source.plugin.address }, ...used, { use: noCredentials.address }, { use: everybody.address }],
    },
    {
      ...rest,
      plugins: [everybody, noCredentials, source.plugin, ...plugins],
      log: createLog('warn', (line) => logged.push(line)),
      spawn: fakeSpawn(servers),
    },
  );
  await gateway.settled();
  return {
    gateway,
    logged,
    client: (clientOptions) => testClient((request) => gateway.fetch(request), 'http://localhost/mcp', clientOptions),
    setBackends: (next) => source.push(describe(next, servers)),
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
}

/** All callers are the same one, unless a plugin of the plan authenticates callers. */
const everybody: Plugin = definePlugin({
  address: 'testing/everybody',
  config: z.strictObject({}),
  apply(core) {
    if (core.hooks.authenticate.tapped()) return;
    core.hooks.authenticate.tap('testing/everybody', () => ANONYMOUS);
  },
});

/** The strategy without credentials, unless a plugin provides its own. */
const noCredentials: Plugin = definePlugin({
  address: 'testing/no-credentials',
  config: z.strictObject({}),
  apply({ slots: { authStrategies } }) {
    if (authStrategies.has('unauthenticated')) return;
    authStrategies.register('unauthenticated', { prepare: async () => ({ apply: () => {} }) });
  },
});

function describe(backends: TestBackends, servers: Map<string, FakeServer>): readonly Backend[] {
  return Object.entries(backends).map(([name, backend]) => {
    if ('transport' in backend) return { ...backend, name };
    servers.set(name, backend);
    return { name, transport: 'stdio', command: { file: `${FAKE_PROGRAM}${name}`, args: [] } };
  });
}
