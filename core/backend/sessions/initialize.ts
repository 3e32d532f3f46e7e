import type { BackendHello } from '../../contract/backend.ts';
import type { JsonObject } from '../../contract/json.ts';
import { isObject } from '../../json/json-value.ts';
import { partsFromValue } from '../../mcp/backend-message.ts';
import { BackendError } from '../../mcp/errors.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../mcp/versions.ts';
import { ConnectionFailure } from '../failure.ts';
import type { EraAnswer, HelloRequest } from '../negotiate-era.ts';
import { type JsonRpcConnection, resultValue } from './json-rpc-connection.ts';

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
  const result = resultValue(await connection.request(request));
  const version = result.protocolVersion;
  if (!isLegacyVersion(version))
    throw new ConnectionFailure(connection.backend, 'protocol', 'supports no MCP revision of this gateway');
  return {
    info: isObject(result.serverInfo) ? result.serverInfo : {},
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
    protocolVersion: String(version),
  };
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
