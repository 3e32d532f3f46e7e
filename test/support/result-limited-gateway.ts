import type { definePlugin, JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import type { z } from 'zod';
import resultLimits from '../../plugins/result-limits/index.ts';
import { headerAuth } from './limited-gateway.ts';

type Config = z.input<typeof resultLimits.config>;

/** Settings of {@link resultLimited}; all have defaults. */
interface Options {
  readonly server?: FakeServer;
  readonly store?: { readonly use: string; readonly with?: JsonObject };
  readonly plugins?: readonly ReturnType<typeof definePlugin>[];
  readonly more?: readonly { readonly use: string; readonly with?: JsonObject }[];
}

/** A gateway with budgets, one backend whose tool `big` answers with a large text, and a clock that only the test moves. */
export async function resultLimited(
  config: Config = { default: { bytes: 4_096 } },
  {
    server = fakeServer().tool('big', () => ({ content: [{ type: 'text', text: BIG }] })),
    store = { use: 'stores/memory' },
    plugins = [],
    more = [],
  }: Options = {},
) {
  const clock = { nowMs: 1_800_000_000_000 };
  const kit: TestGateway = await testGateway({
    now: () => clock.nowMs,
    catalogue,
    plugins: [headerAuth, ...plugins],
    plan: {
      plugins: [
        { use: headerAuth.address },
        ...more,
        ...plugins.map(({ address }) => ({ use: address })),
        store,
        { use: resultLimits.address, with: config },
      ],
    },
    backends: { far: server },
  });
  return { kit, clock, server, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

/** 20,000 characters in 1,000 lines. */
export const BIG = Array.from({ length: 1_000 }, (_, line) => `line ${String(line).padStart(4, '0')} ........`).join(
  '\n',
);

/** The texts of a result. */
export function textsOf({ content }: JsonObject): readonly string[] {
  return (content as readonly JsonObject[]).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

/** The id in an answer in place of a result. */
export function idOf(answer: JsonObject): string {
  const [, id] = /the id ([\w-]{43})[ ,]/.exec(textsOf(answer)[0] ?? '') ?? [];
  if (id === undefined) throw new Error(`no id in ${JSON.stringify(answer)}`);
  return id;
}
