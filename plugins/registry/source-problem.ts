import { GatewayFault } from '@toolmgr/core';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';

/** Why a registry cannot be loaded. */
export interface SourceProblem {
  /** For people: names the registry. */
  readonly problem: string;
  readonly kind: SourceProblemKind;
}

/**
 * `missing`: there is no such file. `invalid`: what was read is no registry. `unreachable`: it did not answer, or its address
 * is refused. `auth`: it needs a sign-in.
 */
export type SourceProblemKind = 'missing' | 'invalid' | 'unreachable' | 'auth';

/** An answer with a status that is no success. */
export class StatusFault extends GatewayFault {
  readonly answered: number;

  constructor(url: string, answered: number) {
    super('REMOTE_UNAVAILABLE', `${plainUrl(url)}: answered with status ${answered}, expected 200`);
    this.answered = answered;
  }
}

/** The kind of a failed request. */
export function kindOf(cause: unknown): SourceProblemKind {
  if (cause instanceof NeedsSignIn) return 'auth';
  if (!(cause instanceof StatusFault)) {
    // an answer that is no JSON was reached
    const isAnswer = cause instanceof GatewayFault && /: (answered|lists|repeats) /.test(cause.message);
    return isAnswer ? 'invalid' : 'unreachable';
  }
  return cause.answered === 401 || cause.answered === 403 ? 'auth' : 'invalid';
}

/** A refused address, sign-in or missing page is no reason to use an old copy. */
export function isTransient(cause: unknown): boolean {
  if (cause instanceof NeedsSignIn || (cause instanceof GatewayFault && cause.code === 'REMOTE_REFUSED')) return false;
  return cause instanceof GatewayFault && kindOf(cause) !== 'auth';
}

/** There is no token for a registry that needs one. */
export class NeedsSignIn extends GatewayFault {
  constructor(why: string) {
    super('AUTH_STRATEGY_FAILED', why);
  }
}
