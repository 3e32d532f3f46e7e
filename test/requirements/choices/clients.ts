import type { Section } from '../section.ts';

/** Decisions about the clients of the authorization server. */
export const clients = [
  {
    source: 'choice: clients of the authorization server',
    says: {
      'choice.clients.own-id': 'a registration gets an id of its own, whatever the request says',
      'choice.clients.secret': 'a secret is shown once, and only its SHA-256 is stored',
      'choice.clients.network-limit': 'registrations are limited by network; others are not affected',
      'choice.clients.capacity':
        'at 10 000 clients the oldest unused one of an hour is evicted, never one with a token',
      'choice.clients.life': 'a registered client ends 30 days after its last token',
      'choice.clients.document-address': 'a metadata document is never fetched from a private address',
      'choice.clients.document-away': 'a known metadata document is used for a day while its server is away',
      'choice.clients.one-fetch': 'one request fetches a refused metadata document once',
      'choice.clients.document-cache': 'the documents that were used last stay in the cache',
    },
  },
  {
    source: 'choice: delegation',
    says: {
      'choice.delegation.act': 'an exchanged token names its actor in act and has no tsid',
      'choice.delegation.depth': 'a chain has at most ten actors',
      'choice.delegation.forged': 'a subject token with a signature that is not of this server is refused',
      'choice.delegation.session': 'a delegated token ends with the session of its person',
      'choice.delegation.own-tokens': 'a client that registered itself exchanges only its own tokens',
      'choice.delegation.listed':
        'a token of another issuer needs a client that the issuer lists and an accepted actor',
      'choice.delegation.resource': 'an exchange gives no resource that the subject token was not issued for',
      'choice.delegation.audited': 'the audit log shows every actor of a delegated call',
      'choice.delegation.replay': 'an assertion is exchanged once, also in parallel and with another valid signature',
    },
  },
] as const satisfies readonly Section[];
