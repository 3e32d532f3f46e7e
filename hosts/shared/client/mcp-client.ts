import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { isObject, type JsonObject, type JsonValue, MISSING_BACKENDS, mirroredHeaders } from '@toolmgr/core';
import { printable } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { rpcErrorIn, silence } from './request-failures.ts';
import { createWatchedFetch, type WatchedFetch } from './watched-fetch.ts';

/** An MCP client for one endpoint, of either revision. */
export interface McpClient {
  readonly revision: string;
  readonly server: JsonObject;
  /** All pages, as the server lists them. */
  listTools(): Promise<readonly JsonObject[]>;
  /** What the last list lacked, in words: `everything (starting, 12 s)`. */
  lacking(): readonly string[];
  /** Those of {@link lacking} whose program is still starting: waiting may help. */
  starting(): readonly string[];
  /** Calls one listed tool. Its own failure is a result with `isError`; a JSON-RPC error rejects with {@link RpcError}. */
  callTool(tool: JsonObject, args: JsonObject, onProgress?: (progress: JsonObject) => void): Promise<JsonObject>;
  /** Ends the session, if there is one, and closes the connections. */
  close(): Promise<void>;
}

/** The server answered a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;
  /** Seconds after which the server invites to ask again. */
  readonly retryAfterSeconds: number | undefined;
  /** The `data` of the error. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
    this.retryAfterSeconds =
      isObject(data) && typeof data.retryAfterSeconds === 'number' ? data.retryAfterSeconds : undefined;
  }
}

const MAX_PAGES = 1000;
/** The SDK measures a whole request; here only silence ends one. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const MODERN = '2026-07-28';

/** Any result, with all of its members: the SDK's own schemas drop those that they do not know. */
const ANY_RESULT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'toolmgr', validate: (value) => ({ value: value as JsonObject }) },
};

/**
 * Connects: the stateless revision when the server discovers it, otherwise a session.
 * @throws UsageError when nothing answers or what answers is no MCP endpoint
 */
export async function connect(
  url: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly timeoutMs: number },
): Promise<McpClient> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`${url} is not an http(s) URL`);
  let isConnected = false;
  const watched = createWatchedFetch(url, options.timeoutMs, () => isConnected);
  const endpoint: Endpoint = { url, headers: options.headers ?? {}, timeoutMs: options.timeoutMs, watched };
  try {
    // a server of an older revision may answer a discovery with anything
    const opened = await open(endpoint, 'auto').catch((cause: unknown) => {
      if (cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed)
        return open(endpoint, 'legacy');
      throw cause;
    });
    isConnected = true;
    return clientFor(endpoint, opened);
  } catch (cause) {
    await watched.close();
    throw explained(cause, endpoint);
  }
}

interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly watched: WatchedFetch;
}

interface Opened {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

async function open({ url, headers, timeoutMs, watched }: Endpoint, mode: 'auto' | 'legacy'): Promise<Opened> {
  const client = new Client(
    { name: 'toolmgr', version: VERSION },
    { capabilities: {}, versionNegotiation: { mode }, inputRequired: { autoFulfill: false } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: watched.fetch });
  await watched.run((signal) => client.connect(transport, { signal, timeout: timeoutMs }));
  return { client, transport };
}

function clientFor(endpoint: Endpoint, { client, transport }: Opened): McpClient {
  const revision = client.getNegotiatedProtocolVersion() ?? '';
  let lacking: readonly MissingBackend[] = [];

  const request = async (method: string, params: JsonObject, more: RequestExtras = {}): Promise<JsonObject> => {
    try {
      return await endpoint.watched.run((signal) =>
        client.request({ method, params }, ANY_RESULT, {
          signal,
          timeout: NO_TIMEOUT_MS,
          allowInputRequired: true,
          ...more,
        }),
      );
    } catch (cause) {
      throw explained(cause, endpoint);
    }
  };
  return {
    revision,
    server: (client.getServerVersion() ?? {}) as JsonObject,
    async listTools() {
      const tools: JsonObject[] = [];
      let cursor: JsonValue | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const result = await request('tools/list', cursor === undefined ? {} : { cursor }).catch((cause: unknown) => {
          lacking = cause instanceof RpcError ? lackingIn(cause.data) : [];
          throw cause;
        });
        lacking = lackingIn(result._meta);
        if (Array.isArray(result.tools)) tools.push(...result.tools.filter(isObject));
        cursor = result.nextCursor;
        if (typeof cursor !== 'string') return tools;
      }
      throw new UsageError(`the list of tools has more than ${MAX_PAGES} pages`);
    },
    lacking: () => lacking.map(inWords),
    starting: () => lacking.filter(({ status }) => status === 'starting').map(inWords),
    async callTool(tool, args, onProgress) {
      const isModern = revision === MODERN;
      const params = { name: String(tool.name), arguments: args };
      const result = await request('tools/call', params, {
        ...(isModern ? { headers: mirroredHeaders(tool, args) } : {}),
        ...(onProgress === undefined ? {} : { onprogress: (told) => onProgress(told as JsonObject) }),
      });
      return isModern ? { resultType: 'complete', ...result } : result; // the SDK takes this member off
    },
    async close() {
      await transport.terminateSession().catch(() => {}); // the session ends by itself later
      await client.close();
      await endpoint.watched.close();
    },
  };
}

interface RequestExtras {
  readonly headers?: Record<string, string>;
  readonly onprogress?: (told: unknown) => void;
}

interface MissingBackend {
  readonly name: string;
  readonly status: string;
  readonly seconds: number;
}

/** What a gateway of this kind says about backends that a list lacks, in the `_meta` of a list or the `data` of an error. */
function lackingIn(told: unknown): readonly MissingBackend[] {
  const lacking = isObject(told) ? told[MISSING_BACKENDS] : undefined;
  if (!Array.isArray(lacking)) return [];
  return lacking.filter(isObject).map(({ name, status, seconds }) => ({
    name: printable(String(name)),
    status: printable(String(status)),
    seconds: Number(seconds),
  }));
}

function inWords({ name, status, seconds }: MissingBackend): string {
  return Number.isNaN(seconds) ? `${name} (${status})` : `${name} (${status}, ${seconds} s)`;
}

/** An error of the SDK as a JSON-RPC error or a sentence for a person. */
function explained(cause: unknown, { url, timeoutMs, watched }: Endpoint): unknown {
  if (cause instanceof UsageError) return cause;
  if (cause instanceof ProtocolError) return new RpcError(cause.code, cause.message, cause.data);
  const error = cause instanceof SdkHttpError ? rpcErrorIn(String(cause.data.text ?? '')) : undefined;
  if (error !== undefined) {
    const { code, message, data } = error;
    return new RpcError(
      typeof code === 'number' ? code : 0,
      typeof message === 'string' ? message : 'unknown error',
      data,
    );
  }
  if (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout) return silence(url, timeoutMs);
  if (cause instanceof SdkError && INVALID_RESULT.has(cause.code)) {
    return new UsageError(`${url} sent a result that MCP does not allow: ${cause.message.split(/: \[\s/, 1)[0]}`);
  }
  return new UsageError(`${url} is not an MCP endpoint (HTTP ${watched.status()}, no JSON-RPC answer)`);
}

const INVALID_RESULT: ReadonlySet<string> = new Set([SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType]);
