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
