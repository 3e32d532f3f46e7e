import { byPath } from '../../../hosts/vmcp/host-keys.ts';

/**
 * What keys of a vmcp file mean that have no description in their zod schema: keys of the host, from its table, and whole
 * sections, which a plugin's schema describes only from inside. Keys are dotted paths; `*` is a name that the file chooses.
 */
export const MEANINGS: Readonly<Record<string, string>> = {
  ...byPath(({ means }) => means),
  authServerConfig:
    'authorization server of the gateway: people sign in at identity providers, clients get tokens of the gateway',
  'incomingAuth.oidc': 'where tokens come from; only with type `oidc`',
  'incomingAuth.authz': 'policies that allow or refuse each request',
  'incomingAuth.authz.type': '`cedar` applies policies, `none` allows everything',
  kubernetes: 'settings of a gateway that runs in a pod; the operator writes them',
  aggregation: 'names of tools and prompts when several backends are one list, filters and overrides',
  decisionPoint: 'a policy server that decides about calls and lists, beside the policies of `incomingAuth.authz`',
  toolPinning: 'holds new and changed definitions of tools until a person approves them',
  dataProtection: 'finds secrets and personal data in arguments and results: masks, blocks or reports them',
  optimizer: 'lists `find_tool` and `call_tool` instead of all tools',
  sessionStorage: 'where sessions of clients are kept, so that several replicas share them',
  'sessionStorage.provider': '`memory` keeps them in the process, `redis` in a Redis server',
  rateLimiting: 'how many calls are allowed in a time: of everybody together, of each user, of single tools',
  resultLimits:
    'how large results of tools may be; a larger one stays at the gateway, and its caller reads it in parts',
  codeMode: 'one tool that runs a script over other tools',
  'codeMode.enabled': 'whether the section is used',
  'compositeTools[].output.properties.*.type': 'JSON type of the member',
  'compositeTools[].output.properties.*.description': 'what the member is; clients read it in the output schema',
  'compositeTools[].output.properties.*.properties': 'members of an object',
  'operational.failureHandling': 'health checks, circuit breaker, and what happens when a backend is missing',
  audit: 'one line of JSON for each request, who sent it and how it ended',
  'audit.enabled': 'whether the section is used',
  telemetry: 'traces and metrics',
};

const STRATEGIES: Readonly<Record<string, string>> = {
  type: 'which strategy is used',
  headerInjection: 'one header with a fixed value; only with type `header_injection`',
  awsSts: 'credentials of AWS for the role of the caller; only with type `aws_sts`',
  tokenExchange: "a token that the caller's token is exchanged for (RFC 8693); only with type `token_exchange`",
  obo: 'a token of Entra ID on behalf of the caller; only with type `obo`',
  upstreamInject:
    'the token of the person from an identity provider where they signed in; only with type `upstream_inject`',
  xaa: 'a token by an identity assertion of the identity provider; only with type `xaa`',
};

/** The meaning of a path; `undefined` when the table has none. */
export function meaningOf(path: string): string | undefined {
  const strategy = /^outgoingAuth\.(?:default|backends\.\*)\.(\w+)$/.exec(path)?.[1];
  // members of an object are described by the same schema on every level
  const flat = path.replace(/(\.output\.properties\.\*)(?:\.properties\.\*)+/, '$1');
  return strategy === undefined ? MEANINGS[flat] : STRATEGIES[strategy];
}
