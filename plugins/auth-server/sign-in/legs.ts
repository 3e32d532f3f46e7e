import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { AuthStorage } from '../storage/storage.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { asksForAccount } from './account-prompt.ts';

/** Why a browser was sent to a provider. */
export type LegPurpose = z.infer<typeof PURPOSE>;

const PURPOSE = z.discriminatedUnion('kind', [
  /** A part of the sign-in of an MCP client. `person`: known already; else this provider names it. */
  z.object({ kind: z.literal('sign-in'), uid: z.string(), person: z.string().optional() }),
  /** A signed-in person connects one more provider. */
  z.object({ kind: z.literal('connect'), person: z.string(), ticket: z.string().optional() }),
  /** A person signs in with this browser, for the page of connections or for the link to connect a provider. */
  z.object({ kind: z.literal('identify'), ticket: z.string().optional() }),
]);

/** A redirect to a provider that was not answered yet. */
export type PendingLeg = z.infer<typeof PENDING>;

const PENDING = z.object({
  provider: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  maxAgeS: z.number().optional(),
  /** `bindingHash` of the browser's cookie. */
  binding: z.string(),
  purpose: PURPOSE,
});

/** Redirects to providers. */
export interface Legs {
  /**
   * The URL that the browser is sent to. `wantsOther`: the provider asks for the account again; `maxAgeS`: how old the person's
   * sign-in there may be (OpenID Connect Core §3.1.2.1).
   * @throws as `Upstream.authorizationUrl`
   */
  begin(
    upstream: Upstream,
    binding: string,
    purpose: LegPurpose,
    options?: { readonly wantsOther?: boolean; readonly maxAgeS?: number | undefined },
  ): Promise<string>;
  /** The leg of a state; it can still be taken. */
  find(state: string): Promise<PendingLeg | undefined>;
  /** The leg of a state, once. */
  take(state: string): Promise<PendingLeg | undefined>;
}

/** How long a provider may take to send the browser back. */
export const LEG_MS = 10 * 60_000;
/** How long one exchange with a provider may take, all its requests together. */
export const UPSTREAM_MS = 20_000;

/** Creates the legs on the storage of the authorization server. */
export function createLegs(storage: AuthStorage): Legs {
  const read = (record: { readonly value: unknown } | undefined): PendingLeg | undefined =>
    record === undefined ? undefined : PENDING.parse(record.value);
  return {
    async begin(upstream, binding, purpose, { wantsOther = false, maxAgeS } = {}) {
      const leg = { state: randomText(), nonce: randomText(), codeVerifier: randomText(), maxAgeS };
      const location = await upstream.authorizationUrl(leg, AbortSignal.timeout(UPSTREAM_MS));
      const { state, ...secrets } = leg;
      await storage.set(`pending:${state}`, { ...secrets, provider: upstream.name, binding, purpose }, LEG_MS);
      return wantsOther ? asksForAccount(location) : location;
    },
    find: async (state) => (STATE.test(state) ? read(await storage.get(`pending:${state}`)) : undefined),
    take: async (state) => read(await storage.take(`pending:${state}`)),
  };
}

const STATE = /^[\w-]{43}$/;

function randomText(): string {
  return randomBytes(32).toString('base64url');
}
