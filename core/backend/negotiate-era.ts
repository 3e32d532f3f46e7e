import type { BackendHello } from '../contract/backend.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { decode, isObject } from '../json/json-value.ts';
import { BackendError } from '../mcp/errors.ts';
import { META } from '../mcp/meta.ts';
import { LATE, within } from '../timing/within.ts';
import { ConnectionFailure } from './failure.ts';
import type { OutgoingRequest } from './sessions/backend-session.ts';
import { type JsonRpcConnection, resultValue } from './sessions/json-rpc-connection.ts';

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
    const found = resultValue(result);
    const versions = found.supportedVersions;
    const modern = Array.isArray(versions) && versions.includes(MODERN);
    return modern ? { is: 'modern', hello: helloFrom(found) } : { is: 'legacy' };
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

function helloFrom(found: JsonObject): BackendHello {
  const meta = isObject(found._meta) ? found._meta : {};
  const info = meta[META.serverInfo] ?? found.serverInfo;
  return {
    info: isObject(info) ? info : {},
    capabilities: isObject(found.capabilities) ? found.capabilities : {},
    instructions: typeof found.instructions === 'string' ? found.instructions : undefined,
    protocolVersion: MODERN,
  };
}

/** A server that refuses to describe itself may still support everything; lists that it lacks answer -32601. */
const UNKNOWN: BackendHello = {
  info: {},
  capabilities: { tools: {}, prompts: {}, resources: {} },
  instructions: undefined,
  protocolVersion: MODERN,
};
