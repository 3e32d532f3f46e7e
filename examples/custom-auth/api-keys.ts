import { createHash } from 'node:crypto';
import { type Caller, definePlugin, type Refusal, STAGE } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'incoming-auth/api-keys';

const config = z.strictObject({
  header: z.string().toLowerCase().default('x-api-key').describe('request header that carries the key'),
  keys: z
    .record(z.string().min(1), z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hex'))
    .describe('SHA-256 of the key by name of the caller, so that the file holds no secret'),
  optional: z.boolean().default(false).describe('pass requests without a key to the other plugins of the plan'),
});

/** Authenticates callers by an API key in a request header. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'authenticates callers by an API key in a header',
  config,
  apply(core, { header, keys, optional }) {
    const callers = new Map(Object.entries(keys).map(([name, hash]) => [hash, callerNamed(name)]));
    const withoutKey = optional ? undefined : NO_KEY;
    // Early: the first answer counts, and a plan may also have the anonymous plugin, which accepts every caller.
    core.hooks.authenticate.tap({ name: ADDRESS, stage: STAGE.early }, (inbound) => {
      const key = inbound.headers[header];
      return key === undefined ? withoutKey : callerOf(key, callers);
    });
  },
});

function callerOf(key: string, callers: ReadonlyMap<string, Caller>): Caller | Refusal {
  const hash = createHash('sha256').update(key).digest('hex');
  return callers.get(hash) ?? UNKNOWN_KEY;
}

const NO_KEY: Refusal = { refused: true, status: 401, reason: 'an API key is required' };
const UNKNOWN_KEY: Refusal = { refused: true, status: 401, reason: 'unknown API key' };

/** Sessions and pooled connections are bound to `key`, so it is different for each caller. */
function callerNamed(name: string): Caller {
  return { issuer: ADDRESS, subject: name, key: `${ADDRESS}\0${name}`, name, claims: {} };
}
