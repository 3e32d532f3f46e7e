import { type FaultCode, GatewayFault } from '../errors.ts';

/** What kind of trouble it was, for status pages and counters. */
export type FailureCategory =
  | 'refused'
  | 'dns'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'http'
  | 'protocol'
  | 'session'
  | 'unauthenticated'
  | 'too-large'
  | 'busy'
  | 'starting'
  | 'spawn'
  | 'exit'
  | 'stopped';

/** What is known about a request that failed on its way. */
export interface FailureFacts {
  readonly category: FailureCategory;
  /** The backend surely did not start on the request, so repeating it is safe. */
  readonly notRun?: boolean;
  /** The link it went over is of no more use. */
  readonly linkLost?: boolean;
  /** HTTP status, when one was answered. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** A fault of a link, with the facts that decide whether a request may be repeated. */
export class LinkFailure extends GatewayFault {
  readonly category: FailureCategory;
  readonly notRun: boolean;
  readonly linkLost: boolean;
  readonly httpStatus: number | undefined;
  /** What it says about the backend, without its name. */
  readonly sentence: string;

  constructor(code: FaultCode, backend: string, sentence: string, facts: FailureFacts) {
    super(code, `backend "${backend}" ${sentence}`, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.sentence = sentence;
    this.category = facts.category;
    this.notRun = facts.notRun === true;
    this.linkLost = facts.linkLost === true;
    this.httpStatus = facts.status;
  }
}

/** The category of any error, for status pages. To have no credentials for a backend is to be refused by it. */
export function categoryOf(error: unknown): string {
  if (error instanceof LinkFailure) return error.category;
  return error instanceof GatewayFault && error.code === 'AUTH_STRATEGY_FAILED' ? 'unauthenticated' : 'internal';
}

/**
 * The failure behind a socket error.
 * The sentence names no address: the log has it in the cause.
 */
export function socketFailure(backend: string, error: Error, sent: boolean, linkLost = false): LinkFailure {
  const code = errorCode(error);
  const [category, sentence] = SOCKET_ERRORS[code] ?? (isTls(code) ? TLS : CLOSED);
  return new LinkFailure('BACKEND_UNREACHABLE', backend, sentence, {
    category,
    notRun: !sent,
    linkLost,
    cause: error,
  });
}

const CLOSED = ['closed', 'closed the connection before it answered'] as const;
const TLS = ['tls', 'presents a certificate that is not trusted'] as const;
const SOCKET_ERRORS: Readonly<Record<string, readonly [FailureCategory, string]>> = {
  ECONNREFUSED: ['refused', 'refused the connection'],
  ENOTFOUND: ['dns', 'has a host name that does not resolve'],
  EAI_AGAIN: ['dns', 'has a host name that does not resolve now'],
  EHOSTUNREACH: ['refused', 'has a host that cannot be reached'],
  ENETUNREACH: ['refused', 'has a network that cannot be reached'],
  ETIMEDOUT: ['timeout', 'did not accept a connection in time'],
  PROXY_REFUSED: ['refused', 'could not be reached through the proxy'],
  HTTP_MALFORMED_RESPONSE: ['protocol', 'answered something that is not HTTP/1.1'],
  HTTP_UNDECODABLE_BODY: ['protocol', 'answered in a content coding that cannot be undone'],
};

function isTls(code: string): boolean {
  return code.includes('CERT') || code.startsWith('ERR_TLS') || code.includes('SSL') || code.includes('SIGNATURE');
}

function errorCode(error: Error): string {
  const code = (error as { readonly code?: unknown }).code;
  if (typeof code === 'string') return code;
  const first = error instanceof AggregateError ? error.errors[0] : error.cause;
  return first instanceof Error ? errorCode(first) : '';
}
