import { type Revision, scoredScenarios } from './suite.ts';

/** Client scenarios that depend only on the gateway; `client.ts` runs each of them. */
export const CLIENT_SCENARIOS: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': [
    'initialize',
    'tools_call',
    'elicitation-sep1034-client-defaults',
    'sse-retry',
    'json-schema-2020-12-preservation',
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

/** Scored scenarios of authorization; `auth-client.ts` runs each of them with the login of `toolmgr run`. */
export function authScenarios(revision: Revision): readonly string[] {
  return scoredScenarios(revision, 'client').filter((scenario) => scenario.startsWith('auth/'));
}

/** Checks of these scenarios that fail, with the reason. */
export const AUTH_FAILURES: Readonly<Record<string, { readonly checks: readonly RegExp[]; readonly reason: string }>> =
  {
    'auth/scope-step-up': {
      checks: [/^scope-step-up-escalation: /, /^sep-2350-scope-union-on-reauth: /],
      reason:
        'after a 403 the login is not repeated with the scope that the server names: the user starts the workload again',
    },
    'auth/authorization-server-migration': {
      checks: [/^sep-2352-reregister-on-as-change: /],
      reason:
        'the login is not repeated while a workload runs: a server that changes its authorization server needs a new start',
    },
  };
