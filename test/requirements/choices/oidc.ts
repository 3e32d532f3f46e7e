import type { Section } from '../section.ts';

/** Decisions about callers who prove themselves by tokens, and about the user of the machine. */
export const oidc = [
  {
    source: 'choice: bearer tokens',
    says: {
      'choice.oidc.algorithms':
        'only RSA, ECDSA and EdDSA signatures count: no algorithm none, no shared secret, no key that the token brings itself',
      'choice.oidc.leeway': 'exp and nbf are judged with 30 seconds of leeway',
      'choice.oidc.cache':
        'a verified token is remembered by its SHA-256 until it expires, in a bounded store; refused ones are not',
      'choice.oidc.caller':
        'the caller is bound to issuer and subject, has the verified claims, and its token never stands in a log',
      'choice.oidc.actor-in-key':
        'a delegated token (act) has a key of its own: it shares no session, stream, list or state with its person, and the limits of its person',
      'choice.oidc.client-subject':
        'a token without sub is the client client_id:ID, never the user of that name; a sub that begins so is refused',
      'choice.oidc.introspection-400':
        'status 400 of the introspection endpoint is a bad token, 401; an error that names the client is an outage, 503',
      'choice.oidc.rotation':
        'a token with an unknown key makes the gateway look for new keys, at most every 10 seconds',
      'choice.oidc.withdrawn': 'a key that is no longer published takes back the tokens it signed',
      'choice.oidc.away':
        'while the provider is away known tokens and keys work, other tokens get 503 and the start does not wait',
      'choice.oidc.introspection-cache': 'the answer about an opaque token is believed for 60 seconds at most',
      'choice.oidc.challenge':
        '401 and 403 answers carry WWW-Authenticate Bearer with resource_metadata; a bad token gets an error code, a missing one none',
      'choice.oidc.tool-scopes':
        'a call of a tool by a token without the scopes of oidc.toolScopes answers 403 insufficient_scope with all scopes to request; the tool stays listed',
      'choice.oidc.tool-scopes-inside':
        'call_tool answers a lacking scope of its tool with the same 403; a script does when it failed on it and no other call of it was made before',
      'choice.oidc.metadata':
        'RFC 9728 metadata is served at the well-known path and with the path of the endpoint behind it',
      'choice.oidc.size': 'a token above 16 KiB is refused before it is decoded',
      'choice.oidc.sessions': 'a session belongs to issuer and subject: another caller with its id gets 404',
      'choice.oidc.underway':
        'the provider is asked about 256 opaque tokens at once, 128 of one network; what comes on top is answered 503 at once',
      'choice.oidc.jwt-apart':
        'a JWT never waits behind introspection: while the keys are known nothing but its own verification is waited for',
      'choice.oidc.bound-tokens': 'a token that is bound to a key of its sender is no bearer token and is refused',
    },
  },
  {
    source: 'choice: local user',
    says: {
      'choice.local.loopback-only':
        'type local takes connections from this machine for its user and refuses all others with 403',
    },
  },
] as const satisfies readonly Section[];
