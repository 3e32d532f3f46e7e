import type { BackendHello } from '../../contract/backend.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { decode, isObject } from '../../json/json-value.ts';
import type { RawObject } from '../../json/raw-json.ts';
import { partsFromValue } from '../../mcp/backend-message.ts';
import { BackendError } from '../../mcp/errors.ts';
import { META } from '../../mcp/meta.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../mcp/versions.ts';
import { LATE, within } from '../../timing/within.ts';
import { ConnectionFailure } from '../failure.ts';
import type { OutgoingRequest } from './backend-session.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';

/** Result of `server/discover`. */
export type EraAnswer =
  | { readonly is: 'modern'; readonly hello: BackendHello }
  /** A response that a server of 2026-07-28 would not send. */
  | { readonly is: 'legacy' }
  /**
   * No response: a stdio server is legacy then; for HTTP it proves nothing. `late`: the later response when the request
   * is still pending (a program that is being installed reads it once it runs). It may reject.
   */
  | { readonly is: 'silent'; readonly late?: Promise<EraAnswer> }
  /** The response says nothing about the era: a proxy, an overload, an outage. */
  | { readonly is: 'undecided' };

/** The first request of a connection, before its era is known. */
export type HelloRequest = Omit<OutgoingRequest, 'method' | 'params' | 'era'>;

const MODERN = '2026-07-28';

/**
 * Detects the era of a server.
 *
 * Shape: modern only when `supportedVersions` contains 2026-07-28, or for an error code of that revision; 407, 408,
 * 429, 5xx and timeouts never decide.
 * Fails: ConnectionFailure when the backend is unreachable or refuses the credentials.
 * Source: MCP 2026-07-28 lifecycle, version negotiation by clients of both eras.
 */
export async function probe(connection: JsonRpcConnection, asked: HelloRequest): Promise<EraAnswer> {
  try {
    const result = await connection.request({ ...asked, method: 'server/discover', params: [], era: MODERN });
    const found = decoded(result);
    const versions = found.supportedVersions;
    const modern = Array.isArray(versions) && versions.includes(MODERN);
    if (!modern) return { is: 'legacy' };
    const info = isObject(found._meta) ? found._meta[META.serverInfo] : undefined;
    return { is: 'modern', hello: helloFrom(found, info ?? found.serverInfo, MODERN) };
  } catch (cause) {
    return eraAnswerFrom(cause);
  }
}

/**
 * Like {@link probe}; after `silentMs` without a response the result is `silent`, and the request stays pending.
 * @throws as it does
 */
export async function probePatiently(
  connection: JsonRpcConnection,
  asked: HelloRequest,
  silentMs: number,
): Promise<EraAnswer> {
  const late = probe(connection, asked);
  const answer = await within(silentMs, undefined, late);
  return answer === LATE ? { is: 'silent', late } : answer;
}

function eraAnswerFrom(cause: unknown): EraAnswer {
  if (cause instanceof BackendError) return isModernError(cause) ? { is: 'modern', hello: UNKNOWN } : { is: 'legacy' };
  if (!(cause instanceof ConnectionFailure)) throw cause;
  if (cause.code === 'BACKEND_TIMEOUT') return { is: 'silent' };
  if (cause.category === 'exit' || cause.category === 'protocol') return { is: 'legacy' };
  if (cause.category !== 'http') throw cause;
  const status = cause.httpStatus ?? 500;
  const undecided = status >= 500 || status === 407 || status === 408 || status === 429;
  return { is: undecided ? 'undecided' : 'legacy' };
}

/**
 * -32020 and its neighbours belong to 2026-07-28; an error that lists only other versions shows an unsupported server.
 */
function isModernError(error: BackendError): boolean {
  if (error.code > -32020 || error.code < -32029) return false;
  const data = error.data === undefined ? undefined : (decode(error.data) as JsonValue);
  const supported = isObject(data) ? data.supported : undefined;
  return !Array.isArray(supported) || supported.includes(MODERN);
}

function helloFrom(result: JsonObject, info: JsonValue | undefined, protocolVersion: string): BackendHello {
  const { capabilities, instructions } = result;
  return {
    info: isObject(info) ? info : {},
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    protocolVersion,
  };
}

/** A server that refuses to describe itself may still support everything; lists that it lacks answer -32601. */
const UNKNOWN: BackendHello = {
  info: {},
  capabilities: { tools: {}, prompts: {}, resources: {} },
  instructions: undefined,
  protocolVersion: MODERN,
};

/** How a backend answered the first requests of a connection. */
export interface Negotiated {
  readonly is: 'legacy' | 'modern';
  readonly hello: BackendHello;
}

/**
 * Initializes a legacy session.
 * @throws BackendError when the backend refuses · ConnectionFailure BACKEND_PROTOCOL when it has no common revision
 * Source: MCP 2025-11-25, lifecycle.
 */
export async function initialize(
  connection: JsonRpcConnection,
  asked: HelloRequest,
  clientInfo: JsonObject,
): Promise<BackendHello> {
  const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities: asked.capabilities, clientInfo };
  const request = { ...asked, method: 'initialize', params: partsFromValue(params), era: '2025-11-25' } as const;
  const result = decoded(await connection.request(request));
  const version = result.protocolVersion;
  if (!isLegacyVersion(version))
    throw new ConnectionFailure(connection.backend, 'protocol', 'supports no MCP revision of this gateway');
  return helloFrom(result, result.serverInfo, String(version));
}

/**
 * Initializes, unless the pending probe `late` is answered in the modern way first.
 * @throws as {@link initialize}; also the reason of the signal of `asked`
 */
export async function initializeUnlessModern(
  late: Promise<EraAnswer>,
  connection: JsonRpcConnection,
  asked: HelloRequest,
  clientInfo: JsonObject,
): Promise<Negotiated> {
  const over = new AbortController();
  const signal = asked.signal === undefined ? over.signal : AbortSignal.any([asked.signal, over.signal]);
  const legacy = initialize(connection, { ...asked, signal }, clientInfo).then(
    (hello): Negotiated => ({ is: 'legacy', hello }),
    async (cause: unknown): Promise<Negotiated> => {
      // A modern server refuses to initialize; its response to the probe has arrived or arrives now.
      const answer = cause instanceof BackendError ? await late : undefined;
      if (answer?.is === 'modern') return answer;
      throw cause;
    },
  );
  const modern = late.then((answer) => (answer.is === 'modern' ? answer : legacy));
  try {
    return await Promise.race([legacy, modern]);
  } finally {
    over.abort();
    modern.catch(() => {});
  }
}

function decoded(result: RawObject): JsonObject {
  return decode(result.toBytes()) as JsonObject;
}
