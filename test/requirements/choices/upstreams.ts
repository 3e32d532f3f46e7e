import type { Section } from '../section.ts';

/** Decisions about the upstream identity providers of the authorization server. */
export const upstreams = [
  {
    source: 'choice: upstream providers',
    says: {
      'choice.upstream.first-required': 'loginPolicy is required by default, and the first provider is required',
      'choice.upstream.addresses':
        'private addresses need allowPrivateAddresses, for the hosts of the configured URLs or listed ones; documents cannot add hosts',
      'choice.upstream.plain-http': 'http to other machines needs insecureAllowHTTP of the provider',
      'choice.upstream.no-redirects': 'no redirect is followed, except of a metadata document within its origin',
      'choice.upstream.key-change': 'people sign in at a provider that changes its keys right after they were fetched',
      'choice.upstream.unreachable':
        'a provider that does not answer delays only itself, and is discovered when it is back',
      'choice.upstream.id-token':
        'an ID token is checked: issuer, audience, nonce, times, and a signature with an asymmetric algorithm and a published key',
      'choice.upstream.callback-issuer':
        'the iss of a redirect is compared with the issuer before the code is sent anywhere (RFC 9207)',
      'choice.upstream.userinfo-subject': 'userinfo about another subject than the ID token refuses the sign-in',
      'choice.upstream.refusal-or-outage':
        'only an error code about the grant is a refusal; outages and mistakes of the configuration keep the tokens',
      'choice.upstream.refresh-scopes': 'a refresh sends the scopes, and is repeated without them after invalid_scope',
      'choice.upstream.refresh-checked-late':
        'refreshed tokens are returned before their ID token is checked; its subject must stay the same',
      'choice.upstream.client-methods': 'the secret is sent in the body, and by HTTP Basic after invalid_client',
      'choice.upstream.client-of-row':
        'tokens are refreshed with the client that they were issued to, also when another one is registered meanwhile',
      'choice.upstream.registered-once':
        'a registration is one POST for all replicas, kept in the storage, and not repeated for 30 s after a failure',
      'choice.upstream.bounded-answers': 'answers of any size, speed and depth end a request within its limits',
      'choice.upstream.no-secret-shown': 'no error and no log has a token, a code, a secret or a text of a provider',
    },
  },
] as const satisfies readonly Section[];
