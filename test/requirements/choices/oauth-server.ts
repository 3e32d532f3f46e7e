import type { Section } from '../section.ts';

/** Decisions about codes, tokens and endpoints of the authorization server. */
export const oauthServer = [
  {
    source: 'choice: OAuth server',
    says: {
      'choice.oauth.methods':
        'every path of the authorization server answers HEAD as GET, and Allow names both or neither',
      'choice.oauth.id-token':
        'an ID token is issued with the scope openid, for the client, and no resource accepts it',
      'choice.oauth.code-once': 'a code is used once; a second use ends the session of its tokens',
      'choice.oauth.pkce': 'every client needs PKCE with S256',
      'choice.oauth.query-only': 'authorization responses are sent in the query only, never by a page',
      'choice.oauth.audience': 'tokens are issued for one allowed resource, the same at both endpoints',
      'choice.oauth.refresh-grace':
        'the refresh token before the newest gets the same successor for 10 s, and longer while its answer was not delivered',
      'choice.oauth.refresh-reuse': 'an older refresh token ends its family and the session',
      'choice.oauth.refresh-lost-write': 'a refresh token is accepted when the storage lost its rotation',
      'choice.oauth.signed': 'codes and refresh tokens carry a signature, without which the storage is not asked',
      'choice.oauth.revocation':
        'a refresh or access token ends its session at the revocation endpoint, for its client only',
      'choice.oauth.withdrawn': 'the end of a session is noticed by other replicas within 5 s',
      'choice.oauth.storage-away':
        'without the storage clients get 503, and sessions that are known to live count as alive for a minute',
      'choice.oauth.limits': 'requests are limited by network, 429 with Retry-After',
      'choice.oauth.pending': 'of the requests that wait for a person the network with the most loses its oldest',
    },
  },
] as const satisfies readonly Section[];
