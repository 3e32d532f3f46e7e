import type { Mutation } from './mutation.ts';

const FOLDER = 'plugins/auth-server/upstreams';
const OIDC = `${FOLDER}/oidc/oidc-upstream.ts`;
const OIDC_IDENTITY = `${FOLDER}/oidc/oidc-identity.ts`;
const OIDC_LIBRARY = `${FOLDER}/oidc/oidc-library.ts`;
const FAILURES = `${FOLDER}/failures.ts`;
const REGISTERED = `${FOLDER}/registered-clients.ts`;

/** Upstream identity providers: removing or reversing a line must fail the proofs of its requirement. */
export const upstreamBehaviours: readonly Mutation[] = [
  ['choice.upstream.id-token', OIDC_LIBRARY, 'enableNonRepudiationChecks(made); // the signature of ID tokens', ''],
  ['choice.upstream.id-token', OIDC, 'expectedNonce: leg.nonce, ', ''],
  [
    'choice.upstream.userinfo-subject',
    OIDC_IDENTITY,
    'answer?.sub !== undefined && answer.sub !== claims.sub',
    'false',
  ],
  ['choice.upstream.refresh-checked-late', OIDC, 'claims?.sub === old.idTokenSubject', 'true'],
  [
    'choice.upstream.refresh-checked-late',
    OIDC,
    'const { id_token, ...members } = standardMembers(body);',
    'const members = standardMembers(body);\n        const { id_token } = members;',
  ],
  [
    'choice.upstream.callback-issuer',
    `${FOLDER}/oauth2/oauth2-upstream.ts`,
    "if (issuer === undefined) given.delete('iss');",
    "given.delete('iss');",
  ],
  [
    'choice.upstream.addresses',
    `${FOLDER}/provider/provider-urls.ts`,
    "hosts.has(hostOf(url)) || hosts.has(URL.parse(url)?.hostname ?? '') ? open",
    'hosts.size > 0 ? open',
  ],
  ['choice.upstream.refusal-or-outage', FAILURES, 'PASSING.has(error) || status === 408 || status === 429', 'false'],
  ['choice.upstream.refusal-or-outage', FAILURES, 'if (status !== 400) return', 'if (status === 0) return'],
  ['choice.upstream.refresh-scopes', `${FOLDER}/refresh-scopes.ts`, 'return send({});\n  }', 'throw cause;\n  }'],
  [
    'choice.upstream.bounded-answers',
    `${FOLDER}/provider/provider-http.ts`,
    'if (isShallow(body)) return body;',
    'return body;',
  ],
  [
    'choice.upstream.client-methods',
    `${FOLDER}/provider/provider-client.ts`,
    "['client_secret_post', 'client_secret_basic']",
    "['client_secret_post']",
  ],
  [
    'choice.upstream.registered-once',
    REGISTERED,
    'await storage.add(lock, { owner: randomUUID() }, LOCK_MS)',
    'await storage.add(randomUUID(), { owner: lock }, LOCK_MS)',
  ],
  ['choice.upstream.registered-once', REGISTERED, 'now() + FAILURE_MS };', 'now() };'],
  [
    'choice.upstream.unreachable',
    `${FOLDER}/loaded-value.ts`,
    'if (kept === undefined) timer =',
    'if (kept !== undefined) timer =',
  ],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
