import { explainCause, GatewayFault } from '@toolmgr/core';
import { RegistryFault } from '@toolmgr/plugins/kit/oci';
import { type Problem, type ProblemCode, problem } from '@toolmgr/plugins/kit/operations';

/** HTTP statuses of a registry or git server that have a code of their own. */
const CODES: Readonly<Record<number, ProblemCode>> = {
  401: 'upstream_unauthorized',
  403: 'upstream_unauthorized',
  404: 'not_found',
  429: 'upstream_rate_limited',
  504: 'upstream_timeout',
};

/** The code for an HTTP status of a registry or git server. */
export function upstreamCode(status: number): ProblemCode {
  return CODES[status] ?? 'upstream_failed';
}

/**
 * The refusal for a fault of a registry or git server. `what` begins the sentence.
 *
 * Source: reference workload-api §3.4.
 * @throws the cause when it is no fault of a remote server
 */
export function upstreamProblem(what: string, cause: unknown, signal: AbortSignal): Problem {
  if (signal.aborted || isTimeout(cause)) return problem('upstream_timeout', `${what}: there was no answer in time.`);
  if (cause instanceof RegistryFault) return problem(upstreamCode(cause.answered), `${what}: ${cause.message}.`);
  if (!(cause instanceof GatewayFault)) throw cause;
  const code = cause.code === 'REMOTE_REFUSED' ? 'bad_request' : 'upstream_failed';
  return problem(code, `${what}: ${explainCause(cause)}.`);
}

const TIMEOUTS = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ABORT_ERR',
]);
const MAX_CAUSES = 5;

function isTimeout(cause: unknown): boolean {
  let each = cause;
  for (let depth = 0; depth < MAX_CAUSES && each instanceof Error; depth++) {
    if (TIMEOUTS.has(String((each as NodeJS.ErrnoException).code)) || each.name === 'TimeoutError') return true;
    each = each.cause;
  }
  return false;
}
