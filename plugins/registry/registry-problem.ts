import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { SIGN_IN } from './listing-operations.ts';
import type { SourceProblem } from './source-problem.ts';

/** The answer for a registry that cannot be loaded. Source: reference workload-api §3.4. */
export function loadProblem({ kind, problem: detail }: SourceProblem): Problem {
  if (kind === 'auth') return problem('registry_auth_required', `${detail}. ${SIGN_IN}`);
  return problem(kind === 'invalid' ? 'upstream_failed' : 'registry_unavailable', detail);
}

/** The answer for a name that is no registry. */
export function noRegistry(names: readonly string[]): Problem {
  return problem('not_found', `there is no such registry; the registries are ${names.join(', ')}`);
}
