import { type CallToolResult, Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';

/** Approximate size of a token of JSON or English text. The error is the same for all ways. */
const BYTES_PER_TOKEN = 4;

/** What a way costs a model. Tokens are estimates: bytes of JSON divided by {@link BYTES_PER_TOKEN}. */
export interface Cost {
  /** `tools/call` requests on the wire. */
  readonly roundTrips: number;
  /** Definitions of the listed tools as a model gets them: name, description and input schema. */
  readonly definitions: number;
  /** Names and arguments, which the model writes. */
  readonly calls: number;
  /** The structured content of results, or their content where there is none, which the model reads. */
  readonly results: number;
  /** Sum of the above: the model's context at the end. */
  readonly context: number;
  /** What the model reads in total: the whole context so far before each call and after the last. */
  readonly read: number;
}

/** A client that counts what a model would read and write. */
export interface Metered extends AsyncDisposable {
  readonly tools: readonly Tool[];
  /** Calls a tool. Shape: its structured content, else its first text. @throws Error when the tool fails */
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  cost(): Cost;
}

/** Connects, lists the tools, and counts from then on. */
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
