import { GatewayFault } from '@toolmgr/core';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { DamagedSecrets } from '@toolmgr/plugins/kit/secrets';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * The refusal for what the user can mend, e.g. settings that are not valid or a password that opens nothing; `undefined` for other faults.
 * The messages of these faults say what to do and have no secrets.
 */
export function mistakeProblem(cause: unknown): Problem | undefined {
  if (cause instanceof UsageError) return problem('bad_request', cause.message);
  if (!(cause instanceof GatewayFault) || cause.code !== 'SECRETS_UNAVAILABLE') return undefined;
  return problem(cause instanceof DamagedSecrets ? 'internal_error' : 'bad_request', cause.message);
}
