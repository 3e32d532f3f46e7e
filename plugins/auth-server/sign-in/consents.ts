import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isLocalRedirect } from '../clients/redirect-uri.ts';
import type { Interaction } from '../provider/interactions.ts';
import type { AuthStorage } from '../storage/storage.ts';

/** What people allowed to clients that registered themselves. */
export interface Consents {
  /**
   * Whether the person allowed this client, at this redirect URI, all these scopes. Never for a client whose identity nothing proves:
   * any program can use its id (RFC 8252 §8.6).
   */
  isGiven(person: string, interaction: Interaction): Promise<boolean>;
  /** Does nothing for a client whose identity nothing proves. */
  remember(person: string, interaction: Interaction): Promise<void>;
  forget(person: string, clientId: string): Promise<void>;
}

/** A consent is remembered for 90 days since it was given. */
export const CONSENT_MS = 90 * 24 * 3_600_000;

/** Creates the consents on the storage of the authorization server: one record per person and client. */
export function createConsents(storage: AuthStorage): Consents {
  const given = async (key: string): Promise<readonly Given[]> => {
    const record = await storage.get(key);
    return record === undefined ? [] : CONSENT.parse(record.value).given;
  };
  return {
    async isGiven(person, interaction) {
      if (!isProven(interaction)) return false;
      const { client, redirectUri, resource, scopes } = interaction;
      const wanted = placeOf(redirectUri);
      const known = await given(keyOf(person, client.id));
      return known.some(
        (each) =>
          each.redirect === wanted &&
          each.resource === resource &&
          scopes.every((scope) => each.scopes.includes(scope)),
      );
    },
    async remember(person, interaction) {
      if (!isProven(interaction)) return;
      const { client, redirectUri, resource, scopes } = interaction;
      const key = keyOf(person, client.id);
      const consent = { redirect: placeOf(redirectUri), resource, scopes: [...scopes] };
      const others = (await given(key)).filter(
        (each) => each.redirect !== consent.redirect || each.resource !== resource,
      );
      await storage.set(key, { given: [consent, ...others].slice(0, MAX_PLACES) }, CONSENT_MS);
    },
    forget: (person, clientId) => storage.delete(keyOf(person, clientId)),
  };
}

/**
 * Whether only the client itself can use a code: it has a secret, or the code goes to a host that owns its name. The ports of this
 * machine and the schemes of programs belong to whichever program takes them.
 */
function isProven({ client, redirectUri }: Interaction): boolean {
  return client.hasSecret || !isLocalRedirect(redirectUri);
}

type Given = z.infer<typeof CONSENT>['given'][number];

const CONSENT = z.object({
  given: z.array(z.object({ redirect: z.string(), resource: z.string(), scopes: z.array(z.string()) })),
});

const MAX_PLACES = 10;

/** A client id may be a URL of any characters. */
function keyOf(person: string, clientId: string): string {
  return `consent:${person}:${createHash('sha256').update(clientId).digest('base64url')}`;
}

/** A redirect URI without the port of a program on the person's computer, which changes (RFC 8252 §7.3). */
function placeOf(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  if (url === null || url.protocol !== 'http:') return redirectUri;
  url.port = '';
  return url.href;
}
