import { ANONYMOUS, type Caller, definePlugin } from '@toolmgr/core';
import { fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { z } from 'zod';
import rateLimit from '../../plugins/rate-limit/index.ts';

type Config = z.input<typeof rateLimit.config>;

/** Authenticates callers by the header `x-user`; without it a caller is anonymous. */
export const headerAuth = definePlugin({
  address: 'test/who-says',
  config: z.strictObject({}),
  apply({ hooks }) {
    const known = new Map<string, Caller>();
    hooks.authenticate.tap('test/who-says', ({ headers }) => {
      const name = headers['x-user'] ?? '';
      if (name === '') return ANONYMOUS;
      const caller = known.get(name) ?? { issuer: 'test', subject: name, key: `test\0${name}`, claims: {} };
      known.set(name, caller);
      return caller;
    });
  },
});

/** A gateway with limits, one backend, and a clock that only the test moves. */
export async function limited(
  config: Config,
  { maxKeys = 1000, plugins = [] as ReturnType<typeof definePlugin>[] } = {},
) {
  const clock = { nowMs: 1_800_000_000_000 };
  const server = fakeServer().tool('read').tool('write').prompt('ask', 'well?').resource('memo://1', 'one');
  const kit = await testGateway({
    now: () => clock.nowMs,
    catalogue,
    plugins: [headerAuth, rateLimit, ...plugins],
    plan: {
      plugins: [
        { use: headerAuth.address },
        { use: 'stores/memory', with: { maxKeys } },
        { use: rateLimit.address, with: config },
        ...plugins.map(({ address }) => ({ use: address })),
      ],
    },
    backends: { far: server },
  });
  return { kit, clock, server, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

/** Number of successful calls. */
export async function passed(kit: TestGateway, user: string, tool: string, times: number): Promise<number> {
  const client = await kit.client({ headers: user === '' ? {} : { 'x-user': user } });
  let count = 0;
  for (let n = 0; n < times; n++) {
    if ((await client.request('tools/call', { name: tool, arguments: {} })).result !== undefined) count++;
  }
  return count;
}

/** Configuration of a bucket. */
export const per = (maxTokens: number, refillPeriod = '1m') => ({ maxTokens, refillPeriod });
