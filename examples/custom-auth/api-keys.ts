import { createHash } from 'node:crypto';
import { type Caller, definePlugin, type Inbound, type Refusal } from '@toolmgr/core';
import { z } from 'zod';

// region: plugin
const ADDRESS = 'incoming-auth/api-keys';

const config = z.strictObject({
  header: z.string().toLowerCase().default('x-api-key').describe('request header that carries the key'),
  keys: z
    .record(z.string().min(1), z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hex'))
    .describe('name of the caller to the SHA-256 of its key: the file holds no secret'),
});

/** Knows callers by an API key in a header of their requests. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'knows callers by an API key in a header',
  config,
  apply(core, { header, keys }) {
    const callers = new Map(Object.entries(keys).map(([name, hash]) => [hash, callerNamed(name)]));
    core.hooks.authenticate.tap(ADDRESS, (inbound) => identify(inbound, header, callers));
  },
});
// endregion

// region: verbs
function identify(
  inbound: Inbound,
  header: string,
  callers: ReadonlyMap<string, Caller>,
): Caller | Refusal | undefined {
  const key = inbound.headers[header];
  if (key === undefined) return undefined; // not ours: the next plugin may know this caller; if none does, 401
  const hash = createHash('sha256').update(key).digest('hex');
  return callers.get(hash) ?? UNKNOWN_KEY;
}

const UNKNOWN_KEY: Refusal = { refused: true, status: 401, reason: 'unknown API key' };

/** `key` is what sessions and pooled connections are bound to: never the same for two callers. */
function callerNamed(name: string): Caller {
  return { issuer: ADDRESS, subject: name, key: `${ADDRESS}\0${name}`, name, claims: {} };
}
// endregion
