import { brand } from '../errors/brand.ts';
import { type FaultCode, GatewayFault } from '../errors.ts';

/** Kind of a failure, for status pages and counters. */
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
  | 'absent'
  | 'exit'
  | 'stopped';

/** The code of a category, where it has one of its own; the code of the others is `BACKEND_UNREACHABLE`. */
const CODES: Readonly<Partial<Record<FailureCategory, FaultCode>>> = {
  busy: 'BACKEND_BUSY',
  starting: 'BACKEND_STARTING',
  timeout: 'BACKEND_TIMEOUT',
  protocol: 'BACKEND_PROTOCOL',
  'too-large': 'BACKEND_TOO_LARGE',
  unauthenticated: 'BACKEND_UNAUTHENTICATED',
};

/** Further facts about a failed request. */
export interface FailureFacts {
  /** Another code than that of the category. */
  readonly code?: FaultCode;
  /** The backend certainly did not start the request, so repeating it is safe. */
  readonly notRun?: boolean;
  /** The session of the request is broken. */
  readonly connectionLost?: boolean;
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** `WWW-Authenticate` of a response with status 403. */
  readonly challenge?: string | undefined;
  readonly cause?: unknown;
}

/** A failure of a backend session, with the facts that decide whether a request may be repeated. */
export class ConnectionFailure extends GatewayFault {
  static {
    brand(ConnectionFailure, 'ConnectionFailure');
  }

  readonly category: FailureCategory;
  readonly notRun: boolean;
  readonly connectionLost: boolean;
  readonly httpStatus: number | undefined;
  readonly challenge: string | undefined;
  /** The message without the name of the backend. */
  readonly sentence: string;

  constructor(backend: string, category: FailureCategory, sentence: string, facts: FailureFacts = {}) {
    const { code = CODES[category] ?? 'BACKEND_UNREACHABLE', cause } = facts;
    super(code, `backend "${backend}" ${sentence}`, cause === undefined ? undefined : { cause });
    this.sentence = sentence;
    this.category = category;
    this.notRun = facts.notRun === true;
    this.connectionLost = facts.connectionLost === true;
    this.httpStatus = facts.status;
    this.challenge = facts.challenge;
  }
}

/** Categories after which the backend may be reachable on a new connection or session. */
export const GONE: ReadonlySet<string> = new Set(['refused', 'closed', 'session', 'exit']);

/** The failure of everything that a stop cancels. */
export function stopped(backend: string): ConnectionFailure {
  return new ConnectionFailure(backend, 'stopped', 'was removed', { notRun: true });
}

/** The category of any error, for status pages. Missing credentials of a caller count as refused ones. */
export function categoryOf(error: unknown): string {
  if (error instanceof ConnectionFailure) return error.category;
  if (!(error instanceof GatewayFault)) return 'internal';
  if (UNUSABLE.has(error.code)) return 'credentials';
  return WITHOUT_CREDENTIALS.has(error.code) ? 'unauthenticated' : 'internal';
}

/** The configured credentials cannot be used for any caller. */
const UNUSABLE: ReadonlySet<FaultCode> = new Set(['AUTH_STRATEGY_INVALID', 'SECRET_MISSING', 'SLOT_UNKNOWN']);

const WITHOUT_CREDENTIALS: ReadonlySet<FaultCode> = new Set(['AUTH_STRATEGY_FAILED', 'USER_ACTION_REQUIRED']);

/**
 * The failure for a socket error. The sentence contains no address: the cause in the log has it.
 */
export function socketFailure(backend: string, error: Error, sent: boolean, connectionLost = false): ConnectionFailure {
  const code = errorCode(error);
  const [category, sentence] = SOCKET_ERRORS[code] ?? tlsError(code) ?? CLOSED;
  const facts = { code: 'BACKEND_UNREACHABLE', notRun: !sent, connectionLost, cause: error } as const;
  return new ConnectionFailure(backend, category, sentence, facts);
}

const CLOSED = ['closed', 'closed the connection before it answered'] as const;
const UNTRUSTED = ['tls', 'presents a certificate that is not trusted'] as const;
const SOCKET_ERRORS: Readonly<Record<string, readonly [FailureCategory, string]>> = {
  ECONNREFUSED: ['refused', 'refused the connection'],
  ENOTFOUND: ['dns', 'has a host name that does not resolve'],
  EAI_AGAIN: ['dns', 'has a host name that cannot be resolved now'],
  EHOSTUNREACH: ['refused', 'has a host that cannot be reached'],
  ENETUNREACH: ['refused', 'has a network that cannot be reached'],
  ETIMEDOUT: ['timeout', 'did not accept a connection in time'],
  ADDRESS_FORBIDDEN: ['refused', 'has a URL that leads to an address that is not allowed'],
  PROXY_REFUSED: ['refused', 'could not be reached through the proxy'],
  HTTP_MALFORMED_RESPONSE: ['protocol', 'sent a response that is not HTTP/1.1'],
  HTTP_UNDECODABLE_BODY: ['protocol', 'sent a response with an invalid content coding'],
};

/** The failure for an error code of TLS: of OpenSSL (`ERR_SSL_…`), of certificate checks, or of Node (`ERR_TLS_…`). */
function tlsError(code: string): readonly [FailureCategory, string] | undefined {
  for (const [pattern, sentence] of TLS_ERRORS) if (pattern.test(code)) return ['tls', sentence];
  if (code.includes('CERT') || code.startsWith('ERR_TLS') || code.includes('SIGNATURE')) return UNTRUSTED;
  return code.includes('SSL') ? ['tls', 'failed to agree on TLS'] : undefined;
}

/** The first that fits. Up to TLS 1.2 a server that misses a certificate sends the general alert of a failed handshake. */
const TLS_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/ALERT_CERTIFICATE_REQUIRED/, 'demands a client certificate'],
  [
    /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|ACCESS_DENIED)/,
    'refuses the client certificate',
  ],
  [/ALERT_HANDSHAKE_FAILURE/, 'refuses the TLS handshake: it may demand a client certificate or other ciphers'],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION/, 'offers no TLS version that is still allowed (1.2 or newer)'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/, 'does not speak TLS at this port'],
  [/^CERT_HAS_EXPIRED$/, 'presents a certificate that has expired'],
  [/^CERT_NOT_YET_VALID$/, 'presents a certificate that is not valid yet'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'presents a certificate for another host name'],
];

function errorCode(error: Error): string {
  const code = (error as { readonly code?: unknown }).code;
  if (typeof code === 'string') return code;
  const first = error instanceof AggregateError ? error.errors[0] : error.cause;
  return first instanceof Error ? errorCode(first) : '';
}
