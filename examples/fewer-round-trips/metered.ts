import { type CallToolResult, Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';

/** Rough size of a token: what JSON and English come to with the usual tokenizers. Two ways compared by it err alike. */
const BYTES_PER_TOKEN = 4;

/** What a way of working costs a model. Tokens are estimates: bytes of JSON through {@link BYTES_PER_TOKEN}. */
export interface Cost {
  /** Requests `tools/call` that went over the wire. */
  readonly roundTrips: number;
  /** Definitions of the listed tools: name, description and input schema, which is what models are shown. */
  readonly definitions: number;
  /** Names and arguments, which the model writes. */
  readonly calls: number;
  /** The structured content of results, or their content where there is none, which the model reads. */
  readonly results: number;
  /** All of the above: what stands in the model's context at the end. */
  readonly context: number;
  /** What the model reads over the whole job: before each call, and after the last, all that stands there by then. */
  readonly read: number;
}

/** A client that weighs what passes the model that drives it. */
export interface Metered extends AsyncDisposable {
  readonly tools: readonly Tool[];
  /** Calls a tool. Shape: its structured content, else its first text. Throws what a tool fails with. */
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  cost(): Cost;
}

/** Connects, lists the tools, and weighs from then on. */
export async function metered(endpoint: URL): Promise<Metered> {
  let roundTrips = 0;
  const counting: typeof fetch = (url, init) => {
    if (typeof init?.body === 'string' && JSON.parse(init.body).method === 'tools/call') roundTrips += 1;
    return fetch(url, init);
  };
  const client = new Client({ name: 'story', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(endpoint, { fetch: counting }));
  const { tools } = await client.listTools();
  const definitions = tokens(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));
  let calls = 0;
  let results = 0;
  let read = definitions;
  return {
    tools,
    async call(name, args) {
      const result = await client.callTool({ name, arguments: args });
      calls += tokens({ name, arguments: args });
      results += tokens(result.structuredContent ?? result.content);
      read += definitions + calls + results;
      return contentOf(result, name);
    },
    cost: () => ({ roundTrips, definitions, calls, results, context: definitions + calls + results, read }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function tokens(shown: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(shown)) / BYTES_PER_TOKEN);
}

function contentOf({ isError, structuredContent, content }: CallToolResult, name: string): unknown {
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  if (isError === true) throw new Error(`${name} failed: ${text}`);
  return structuredContent ?? text;
}
