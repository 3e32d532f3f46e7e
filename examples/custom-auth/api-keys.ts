import { createHash } from 'node:crypto';
import { type Caller, definePlugin, type Refusal, STAGE } from '@toolmgr/core';
import { z } from 'zod';

// region: plugin
const ADDRESS = 'incoming-auth/api-keys';

const config = z.strictObject({
  header: z.string().toLowerCase().default('x-api-key').describe('request header that carries the key'),
  keys: z
    .record(z.string().min(1), z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hex'))
    .describe('name of the caller to the SHA-256 of its key: the file holds no secret'),
  optional: z.boolean().default(false).describe('leave requests without a key to the other plugins of the plan'),
});

/** Knows callers by an API key in a header of their requests. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'knows callers by an API key in a header',
  config,
  apply(core, { header, keys, optional }) {
    const callers = new Map(Object.entries(keys).map(([name, hash]) => [hash, callerNamed(name)]));
    const withoutKey = optional ? undefined : NO_KEY;
    // Early: in a plan that also lets everybody in, the first answer counts, and it must be this one.
    core.hooks.authenticate.tap({ name: ADDRESS, stage: STAGE.early }, (inbound) => {
      const key = inbound.headers[header];
      return key === undefined ? withoutKey : callerOf(key, callers);
    });
  },
});
// endregion

// region: verbs
function callerOf(key: string, callers: ReadonlyMap<string, Caller>): Caller | Refusal {
  const hash = createHash('sha256').update(key).digest('hex');
  return callers.get(hash) ?? UNKNOWN_KEY;
}

const NO_KEY: Refusal = { refused: true, status: 401, reason: 'an API key is required' };
const UNKNOWN_KEY: Refusal = { refused: true, status: 401, reason: 'unknown API key' };

/** `key` is what sessions and pooled connections are bound to: never the same for two callers. */
function callerNamed(name: string): Caller {
  return { issuer: ADDRESS, subject: name, key: `${ADDRESS}\0${name}`, name, claims: {} };
}
// endregion
