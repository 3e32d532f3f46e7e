import type { AuthContext, Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Environment } from '../../contract/environment.ts';
import { faultFrom, type GatewayFault } from '../../errors.ts';
import { ForbiddenAddress, isForbidden } from '../../http1/allowed-addresses.ts';
import { ownClient } from '../../http1/choose-client.ts';
import type {
  HttpClient,
  HttpClientFactory,
  HttpClientOptions,
  RequestControl,
  ResponseReader,
} from '../../http1/http-client.ts';
import { type Origin, originFrom } from '../../http1/origin.ts';
import { type ProxyRoute, proxyRouteFor } from '../../http1/proxy-route.ts';
import { type ClientIdentity, readCaBundle, readClientIdentity } from '../../http1/tls-files.ts';
import type { BackendCredentials } from '../authorizers.ts';
import { ConnectionFailure, socketFailure } from '../failure.ts';
import { DISCOVERY_CALLER } from '../sessions/backend-session.ts';

/** Less than the 5 s after which Node servers close an idle connection, so that no request is sent on a closing one. */
const KEEP_ALIVE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** Names the session in a response to `initialize` (2025-11-25). */
export const SESSION_HEADER = 'mcp-session-id';
/** Says in a response with status 403 what the credentials lack. */
export const CHALLENGE_HEADER = 'www-authenticate';
const CLIENT: HttpClientOptions = {
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  keepAliveMs: KEEP_ALIVE_MS,
  keptHeaders: new Set([SESSION_HEADER, CHALLENGE_HEADER]),
};
/** Redirects (307, 308) followed in a row; only within the origin. */
const MAX_MOVES = 3;
/** Bytes of an error response that are read for its reason. */
export const MAX_REFUSAL_BYTES = 65_536;

/** One HTTP request to a backend. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body?: Buffer;
  readonly caller: Caller;
  readonly purpose: AuthContext['purpose'];
  readonly signal: AbortSignal;
  /** Headers that are added unless they are already set. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Another path than the endpoint's (old SSE transport). */
  readonly path?: string;
}

/** Reads the response of a backend. */
export interface BackendReader extends ResponseReader {
  /** Its request; set as soon as the request is authorized. */
  flow: RequestControl | undefined;
  /** The response is no longer needed, so a request that still waits for its authorization is not sent. */
  readonly isWithdrawn: boolean;
}

/**
 * The HTTP side of one backend: one long-lived client that all its connections share.
 * Timeouts of answers belong to the requests, so the client has none.
 */
export class HttpTarget {
  readonly backend: Backend;
  readonly origin: string;
  readonly #credentials: BackendCredentials;
  readonly #createClient: HttpClientFactory;
  readonly #address: Origin;
  #identity: ClientIdentity | undefined;
  /** Pools from before an outage that still have active requests. */
  readonly #leaving = new Set<HttpClient>();
  #client: HttpClient;
  #path: string;
  #moves = 0;

  /** @throws ConnectionFailure when the URL, the CA file or the proxy of the environment cannot be used */
  constructor(
    backend: Backend,
    credentials: BackendCredentials,
    environment: Environment,
    createClient: HttpClientFactory = ownClient,
  ) {
    this.#createClient = createClient;
    this.backend = backend;
    this.#credentials = credentials;
    const url = readUrl(backend);
    this.origin = url.origin;
    this.#path = `${url.pathname}${url.search}`;
    this.#address = originFrom(url, caBundleOf(backend), proxyTo(url, backend, environment), backend.addresses);
    checkAddress(this.#address, backend);
    this.#identity = identityOf(backend);
    this.#client = this.#createClient({ ...this.#address, identity: this.#identity }, CLIENT);
  }

  /**
   * Authorizes and sends one request. Errors of the authorizer are passed to `refused`, all later ones to the reader.
   * Synchronous if the authorizer is.
   */
  send(request: HttpRequest, reader: BackendReader, refused: (cause: GatewayFault) => void): void {
    let waited: void | Promise<void>;
    try {
      waited = this.#credentials.authorizer.apply(
        {
          backend: this.backend,
          method: request.method,
          url: this.origin + (request.path ?? this.#path),
          body: request.body,
          headers: request.headers,
        },
        authContextOf(request),
      );
    } catch (cause) {
      return refused(this.#unauthorized(cause));
    }
    if (waited === undefined) return this.#dispatch(request, reader);
    waited.then(
      () => this.#dispatch(request, reader),
      (cause: unknown) => refused(this.#unauthorized(cause)),
    );
  }

  /**
   * Follows a 307 or 308 within the origin; returns whether the request may be sent again.
   * Many servers redirect `/mcp` to `/mcp/`; another origin must not get the credentials.
   */
  moved(status: number, location: string | undefined): boolean {
    if ((status !== 307 && status !== 308) || location === undefined || this.#moves >= MAX_MOVES) return false;
    const url = URL.canParse(location, this.origin + this.#path)
      ? new URL(location, this.origin + this.#path)
      : undefined;
    if (url === undefined || url.origin !== this.origin) return false;
    this.#moves++;
    this.#path = `${url.pathname}${url.search}`;
    return true;
  }

  /** A path that the backend sent, if it is within its origin; else `undefined`. */
  pathWithin(address: string): string | undefined {
    const base = this.origin + this.#path;
    if (!URL.canParse(address, base)) return undefined;
    const url = new URL(address, base);
    return url.origin === this.origin ? `${url.pathname}${url.search}` : undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.#client, ...this.#leaving].map((client) => client.destroy()));
  }

  /**
   * The backend is down: closes its idle connections and uses new ones. Active requests continue. A client certificate is
   * read again, because it may have expired and been replaced.
   */
  closePooledConnections(): void {
    const before = this.#client;
    this.#identity = identityOf(this.backend, this.#identity);
    this.#client = this.#createClient({ ...this.#address, identity: this.#identity }, CLIENT);
    this.#leaving.add(before);
    const forget = (): void => void this.#leaving.delete(before);
    before.close().then(forget, forget);
  }

  #dispatch(request: HttpRequest, reader: BackendReader): void {
    if (reader.isWithdrawn) return;
    const { method, headers, body, extra } = request;
    for (const name in extra) {
      const value = extra[name];
      if (value !== undefined && headers[name] === undefined) headers[name] = value;
    }
    reader.flow = this.#client.send({ path: request.path ?? this.#path, method, headers, body }, reader);
  }

  #unauthorized(cause: unknown): GatewayFault {
    return faultFrom(
      cause,
      'AUTH_STRATEGY_FAILED',
      `request to backend "${this.backend.name}" could not be authorized`,
    );
  }
}

/** Requests that the gateway makes for itself are discovery: they have no caller's token. */
function authContextOf(request: HttpRequest): AuthContext {
  if (request.caller !== DISCOVERY_CALLER || request.purpose === 'discovery') return request;
  return { caller: request.caller, purpose: 'discovery', signal: request.signal };
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Mostly `insufficient_scope` (RFC 6750 §3.1). */
const NOT_ALLOWED = 'refused the request with HTTP 403: the credentials may lack a permission or scope';

/** The failure for an HTTP error status. */
export function statusFailure(backend: string, status: number, challenge?: string): ConnectionFailure {
  if (status === 401 || status === 403) {
    return new ConnectionFailure(
      backend,
      'unauthenticated',
      status === 401 ? 'refused the credentials with HTTP 401' : NOT_ALLOWED,
      { notRun: true, status, challenge },
    );
  }
  const away = status === 408 || status === 429 || status === 502 || status === 503 || status === 504;
  const code = away ? 'BACKEND_UNREACHABLE' : 'BACKEND_PROTOCOL';
  return new ConnectionFailure(backend, 'http', `responded with HTTP ${status}`, { code, status });
}

function readUrl(backend: Backend): URL {
  const text = backend.url ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new ConnectionFailure(backend.name, 'protocol', 'has no http or https URL', { code: 'BACKEND_UNREACHABLE' });
}

function proxyTo(url: URL, backend: Backend, environment: Environment): ProxyRoute | undefined {
  try {
    return proxyRouteFor(url, environment);
  } catch (cause) {
    throw new ConnectionFailure(backend.name, 'refused', 'needs a proxy that cannot be used', { cause });
  }
}

/** A name is checked when it is resolved. */
function checkAddress({ hostname, addresses }: Origin, { name }: Backend): void {
  if (addresses === undefined || !isForbidden(hostname, addresses)) return;
  throw socketFailure(name, new ForbiddenAddress(`${hostname} is not allowed`), false);
}

/** @throws ConnectionFailure when the files cannot be used and there is no earlier identity */
function identityOf({ name, clientCertificate }: Backend, before?: ClientIdentity): ClientIdentity | undefined {
  if (clientCertificate === undefined) return undefined;
  try {
    return readClientIdentity(clientCertificate, 'clientCertificate');
  } catch (cause) {
    if (before !== undefined) return before;
    throw new ConnectionFailure(name, 'tls', 'has a client certificate that cannot be used', { cause });
  }
}

function caBundleOf({ name, caBundlePath }: Backend): string | undefined {
  if (caBundlePath === undefined) return undefined;
  try {
    return readCaBundle(caBundlePath, 'caBundlePath');
  } catch (cause) {
    throw new ConnectionFailure(name, 'tls', 'has a CA file that cannot be used', { cause });
  }
}
