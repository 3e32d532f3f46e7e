import { isObject, type JsonObject, type JsonValue, LACKING } from '@toolmgr/core';
import { Agent, request } from 'undici';
import { printable } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { headerValue, mirroredHeaders } from './mirrored-headers.ts';
import { type Endpoint, type Posted, post } from './post.ts';

/** A small MCP client for one endpoint, of either revision. */
export interface McpClient {
  readonly revision: string;
  readonly server: JsonObject;
  /** All pages, as the server lists them. */
  listTools(): Promise<readonly JsonObject[]>;
  /** What the last list lacked, in words: `everything (starting, 12 s)`. */
  lacking(): readonly string[];
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

  constructor(code: number, message: string, data?: JsonValue) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.retryAfterSeconds =
      isObject(data) && typeof data.retryAfterSeconds === 'number' ? data.retryAfterSeconds : undefined;
  }
}

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const MAX_PAGES = 1000;
const CLOSE_MS = 2_000;
const CLIENT_INFO = { name: 'toolmgr', version: VERSION };

/** One way of talking: what differs between the revisions. */
interface Wire {
  readonly revision: string;
  readonly server: JsonObject;
  request(method: string, params: JsonObject, headers?: Record<string, string>, listen?: Listener): Promise<JsonObject>;
  close(): Promise<void>;
}

type Listener = (message: JsonObject) => void;

/**
 * Connects: the stateless revision when the server discovers it, otherwise a session.
 * @throws UsageError when nothing answers or what answers is no MCP endpoint
 */
export async function connect(
  url: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly timeoutMs: number },
): Promise<McpClient> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`${url} is not an http(s) URL`);
  const dispatcher = new Agent({ connect: { timeout: Math.min(10_000, options.timeoutMs) } });
  const endpoint: Endpoint = { url, headers: options.headers ?? {}, dispatcher, timeoutMs: options.timeoutMs };
  try {
    const wire = (await discover(endpoint)) ?? (await initialize(endpoint));
    let lacking: readonly string[] = [];
    const note = (result: JsonObject): void => {
      lacking = lackingIn(result);
    };
    return {
      revision: wire.revision,
      server: wire.server,
      listTools: () => listAll(wire, note),
      lacking: () => lacking,
      callTool: (tool, args, onProgress) => call(wire, tool, args, onProgress),
      close: async () => {
        await wire.close();
        await dispatcher.destroy();
      },
    };
  } catch (cause) {
    await dispatcher.destroy();
    throw cause;
  }
}

async function listAll(wire: Wire, note: (result: JsonObject) => void): Promise<readonly JsonObject[]> {
  const tools: JsonObject[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await wire.request('tools/list', cursor === undefined ? {} : { cursor });
    note(result);
    if (Array.isArray(result.tools)) tools.push(...result.tools.filter(isObject));
    cursor = result.nextCursor;
    if (typeof cursor !== 'string') return tools;
  }
  throw new UsageError(`the list of tools has more than ${MAX_PAGES} pages`);
}

/** What a gateway of this kind says about backends that a list lacks. */
function lackingIn({ _meta }: JsonObject): readonly string[] {
  const lacking = isObject(_meta) ? _meta[LACKING] : undefined;
  if (!Array.isArray(lacking)) return [];
  return lacking
    .filter(isObject)
    .map(
      ({ name, status, seconds }) => `${printable(String(name))} (${printable(String(status))}, ${Number(seconds)} s)`,
    );
}

function call(
  wire: Wire,
  tool: JsonObject,
  args: JsonObject,
  onProgress: ((progress: JsonObject) => void) | undefined,
): Promise<JsonObject> {
  const name = String(tool.name);
  const headers = { 'mcp-name': headerValue(name), ...mirroredHeaders(tool.inputSchema, args) };
  const params = {
    name,
    arguments: args,
    ...(onProgress === undefined ? {} : { _meta: { progressToken: 'toolmgr' } }),
  };
  return wire.request('tools/call', params, headers, ({ method, params: told }) => {
    if (method === 'notifications/progress' && isObject(told)) onProgress?.(told);
  });
}

/** Asks for the stateless revision; `undefined` when the server does not speak it. */
async function discover(endpoint: Endpoint): Promise<Wire | undefined> {
  let id = 0;
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
  };
  const ask = (method: string, params: JsonObject, headers: Record<string, string> = {}, listen?: Listener) => {
    const meta = isObject(params._meta) ? params._meta : {};
    return post(
      endpoint,
      { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...headers },
      { jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta: { ...meta, ...envelope } } },
      listen,
    );
  };
  const posted = await ask('server/discover', {});
  refuseIfUnauthorized(endpoint.url, posted);
  const { response } = posted;
  const found = response?.result;
  if (!isObject(found) || !Array.isArray(found.supportedVersions)) return undefined;
  if (!found.supportedVersions.includes(MODERN)) return undefined;
  const meta = isObject(found._meta) ? found._meta : {};
  const server = meta['io.modelcontextprotocol/serverInfo'] ?? found.serverInfo;
  return {
    revision: MODERN,
    server: isObject(server) ? server : {},
    request: async (method, params, headers, listen) => {
      const posted = await ask(method, params, headers, listen);
      return resultOf(endpoint.url, posted);
    },
    close: async () => {},
  };
}

/** Opens a session with the newest revision that has them. */
async function initialize(endpoint: Endpoint): Promise<Wire> {
  let id = 1;
  const opened = await post(
    endpoint,
    {},
    {
      jsonrpc: '2.0',
      id,
      method: 'initialize',
      params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT_INFO },
    },
  );
  refuseIfUnauthorized(endpoint.url, opened);
  const hello = resultOf(endpoint.url, opened);
  const revision = typeof hello.protocolVersion === 'string' ? hello.protocolVersion : LEGACY;
  const session: Record<string, string> = {
    'mcp-protocol-version': revision,
    ...(opened.sessionId === undefined ? {} : { 'mcp-session-id': opened.sessionId }),
  };
  await post(endpoint, session, { jsonrpc: '2.0', method: 'notifications/initialized' });
  // a question in the middle of a call: this client declared that it cannot answer any, but ping is always allowed
  const answerBack = (message: JsonObject): void => {
    if (message.id === undefined) return;
    const answer = message.method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'not supported' } };
    void post(endpoint, session, { jsonrpc: '2.0', id: message.id, ...answer }).catch(() => {});
  };
  return {
    revision,
    server: isObject(hello.serverInfo) ? hello.serverInfo : {},
    request: async (method, params, _headers, listen) => {
      const posted = await post(endpoint, session, { jsonrpc: '2.0', id: ++id, method, params }, (message) => {
        listen?.(message);
        answerBack(message);
      });
      return resultOf(endpoint.url, posted);
    },
    close: async () => {
      if (opened.sessionId === undefined) return;
      const { dispatcher, url, headers } = endpoint;
      await request(url, {
        method: 'DELETE',
        dispatcher,
        headersTimeout: CLOSE_MS,
        bodyTimeout: CLOSE_MS,
        headers: { ...session, ...headers },
      })
        .then(({ body }) => body.dump())
        .catch(() => {}); // the session ends by itself later
    },
  };
}

function refuseIfUnauthorized(url: string, { status, challenge, response }: Posted): void {
  if (status !== 401 && status !== 403) return;
  const why = descriptionIn(challenge) ?? messageIn(response);
  throw new UsageError(
    `${url} refuses this caller (HTTP ${status}${why === undefined ? '' : `: ${printable(why)}`}); pass credentials: --header "Authorization: Bearer …"`,
  );
}

/** `error_description` of a challenge, as a quoted string or a token. Source: RFC 6750 §3. */
function descriptionIn(challenge = ''): string | undefined {
  const [, quoted, token] = /(?:^|[\s,])error_description=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/i.exec(challenge) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? token;
}

function messageIn(response: JsonObject | undefined): string | undefined {
  const error = response?.error;
  return isObject(error) && typeof error.message === 'string' ? error.message : undefined;
}

function resultOf(url: string, posted: Posted): JsonObject {
  const { status, response } = posted;
  if (isObject(response?.result)) return response.result;
  if (status === 401) refuseIfUnauthorized(url, posted); // a token may end in the middle of a session
  if (isObject(response?.error)) {
    const { code, message, data } = response.error;
    throw new RpcError(
      typeof code === 'number' ? code : 0,
      typeof message === 'string' ? message : 'unknown error',
      data,
    );
  }
  refuseIfUnauthorized(url, posted);
  throw new UsageError(`${url} is not an MCP endpoint (HTTP ${status}, no JSON-RPC answer)`);
}
