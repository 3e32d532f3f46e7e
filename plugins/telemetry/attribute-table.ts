import type { Attributes, AttributeValue } from '@opentelemetry/api';

/** One span attribute: its current name, its former names, and the spans that have it. */
export interface AttributeRow {
  /** Absent for an attribute that has only former names. */
  readonly name?: string;
  readonly legacy?: readonly string[];
  /** `request`: one per HTTP request; `call`: one per call to a backend or to a tool of the gateway itself. */
  readonly on: 'request' | 'call' | 'both';
  readonly means: string;
}

/**
 * Every attribute of the spans; `docs/reference/telemetry.md` is generated from this table.
 * Source: OpenTelemetry conventions for HTTP, RPC, MCP and generative AI; old names from the contract's first releases.
 */
export const ATTRIBUTES = {
  httpMethod: { name: 'http.request.method', legacy: ['http.method'], on: 'request', means: 'GET, POST, DELETE' },
  url: { name: 'url.full', legacy: ['http.url'], on: 'request', means: 'without its query' },
  scheme: { name: 'url.scheme', legacy: ['http.scheme'], on: 'request', means: '`http`: TLS ends before the gateway' },
  path: { name: 'url.path', legacy: ['http.target'], on: 'request', means: 'path of the request' },
  host: { name: 'server.address', legacy: ['http.host'], on: 'request', means: 'value of the Host header' },
  userAgent: { name: 'user_agent.original', legacy: ['http.user_agent'], on: 'request', means: 'User-Agent header' },
  requestBytes: {
    name: 'http.request.body.size',
    legacy: ['http.request_content_length'],
    on: 'request',
    means: 'Content-Length of the request',
  },
  responseBytes: {
    name: 'http.response.body.size',
    legacy: ['http.response_content_length'],
    on: 'request',
    means: 'bytes of the response',
  },
  status: { name: 'http.response.status_code', legacy: ['http.status_code'], on: 'request', means: 'HTTP status' },
  durationMs: { legacy: ['http.duration_ms'], on: 'request', means: 'duration in milliseconds' },
  clientAddress: { name: 'client.address', on: 'request', means: 'of the connection, not of a proxy header' },
  protocolName: { name: 'network.protocol.name', on: 'request', means: '`http`' },
  transport: { name: 'network.transport', on: 'both', means: '`tcp`, or `pipe` for programs on this machine' },
  mcpTransport: { legacy: ['mcp.transport'], on: 'both', means: '`streamable-http`, `sse` or `stdio`' },
  method: { name: 'mcp.method.name', legacy: ['mcp.method'], on: 'both', means: 'JSON-RPC method' },
  rpcSystem: { name: 'rpc.system.name', legacy: ['rpc.system'], on: 'both', means: '`jsonrpc`' },
  rpcService: { legacy: ['rpc.service'], on: 'both', means: '`mcp`' },
  rpcVersion: { name: 'jsonrpc.protocol.version', on: 'both', means: '`2.0`' },
  requestId: {
    name: 'jsonrpc.request.id',
    legacy: ['mcp.request.id'],
    on: 'request',
    means: 'id of the JSON-RPC request, as text',
  },
  rpcStatus: { name: 'rpc.response.status_code', on: 'both', means: 'code of a JSON-RPC error' },
  resource: { name: 'mcp.resource.uri', legacy: ['mcp.resource.id'], on: 'both', means: 'URI of a resource' },
  tool: { name: 'gen_ai.tool.name', legacy: ['mcp.tool.name'], on: 'both', means: 'name of a tool' },
  operation: { name: 'gen_ai.operation.name', on: 'both', means: '`execute_tool`' },
  arguments: {
    name: 'gen_ai.tool.call.arguments',
    legacy: ['mcp.tool.arguments'],
    on: 'both',
    means: 'arguments of a tool: secrets masked by name, 100 characters per value, 200 in all',
  },
  prompt: { name: 'gen_ai.prompt.name', legacy: ['mcp.prompt.name'], on: 'both', means: 'name of a prompt' },
  session: { name: 'mcp.session.id', on: 'request', means: 'session of a client of revision 2025-11-25' },
  version: { name: 'mcp.protocol.version', on: 'request', means: 'revision between client and gateway' },
  client: { name: 'mcp.client.name', on: 'request', means: 'name of the client, from its client info' },
  server: { name: 'mcp.server.name', on: 'both', means: 'name of this gateway' },
  backend: { name: 'mcp.backend.name', on: 'call', means: 'backend, or plugin of a tool of the gateway itself' },
  backendVersion: {
    name: 'mcp.backend.protocol.version',
    on: 'call',
    means: 'revision between gateway and backend',
  },
  errorType: {
    name: 'error.type',
    on: 'both',
    means: 'HTTP status, JSON-RPC code, fault code, `tool_error` or `cancelled`; never the text of an error',
  },
} as const satisfies Readonly<Record<string, AttributeRow>>;

/** Key of a span attribute. */
export type AttributeKey = keyof typeof ATTRIBUTES;

/** Values of span attributes; `undefined` is omitted. */
export type AttributeValues = Readonly<Partial<Record<AttributeKey, AttributeValue | undefined>>>;

/** Creates the function that names attributes: current names, with `useLegacy` also former ones. */
export function attributeNaming(useLegacy: boolean): (values: AttributeValues) => Attributes {
  const names = new Map<string, readonly string[]>(
    Object.entries<AttributeRow>(ATTRIBUTES).map(([fact, { name, legacy = [] }]) => [
      fact,
      [...(name === undefined ? [] : [name]), ...(useLegacy ? legacy : [])],
    ]),
  );
  return (values) => {
    const attributes: Attributes = {};
    for (const [fact, value] of Object.entries(values)) {
      if (value === undefined) continue;
      for (const name of names.get(fact) ?? []) attributes[name] = value;
    }
    return attributes;
  };
}
