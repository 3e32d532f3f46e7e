import type { Era } from '../contract/era.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isObject } from '../json/json-value.ts';
import { META } from '../mcp/meta.ts';

/** What the handler of a fake tool or prompt gets. */
export interface FakeContext {
  readonly arguments: JsonObject;
  /** `_meta` as received, including envelope and progress token. */
  readonly meta: JsonObject;
  /** The whole params object. */
  readonly params: JsonObject;
  readonly era: Era;
  /** Capabilities that the gateway declared for the client. */
  readonly capabilities: JsonObject;
  /** Aborts when the call is cancelled. */
  readonly signal: AbortSignal;
  progress(progress: number, total?: number, message?: string): void;
  log(level: string, data: JsonValue): void;
  /** Sends a legacy server request during the call. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
}

/** A result: decoded, or JSON text that must arrive unchanged. */
export type FakeResult = JsonObject | { readonly raw: string };
/** Answers a call; a thrown `{ code, message, data? }` becomes the JSON-RPC error, `{ raw }` an unchanged one. */
export type FakeAnswer = (context: FakeContext) => FakeResult | Promise<FakeResult>;

/** An MCP server in this process, without sockets and child processes. Configure it and pass it to `testGateway`. */
export class FakeServer {
  readonly eras: readonly Era[];
  readonly capabilities: Record<string, JsonValue> = {};
  instructions: string | undefined;
  /** Every received request, in order. */
  readonly received: { readonly method: string; readonly params: JsonObject }[] = [];
  /** Number of connections so far: one per backend session. */
  opened = 0;
  readonly #tools = new Map<string, { readonly definition: JsonObject; readonly answer: FakeAnswer }>();
  readonly #prompts = new Map<string, { readonly definition: JsonObject; readonly answer: FakeAnswer }>();
  readonly #resources = new Map<string, { readonly definition: JsonObject; readonly answer: FakeAnswer }>();
  readonly #templates: JsonObject[] = [];
  readonly #methods = new Map<string, FakeAnswer>();
  readonly #connections = new Set<(method: string, params: JsonObject) => void>();

  constructor(eras: readonly Era[] = ['2025-11-25', '2026-07-28']) {
    this.eras = eras;
  }

  /** Adds a tool; `more` are further members of its definition. Without an answer it echoes its arguments as text. */
  tool(name: string, answer: FakeAnswer | string = echo, more: JsonObject = {}): this {
    const definition = { name, inputSchema: { type: 'object' }, ...more };
    const answerFn = typeof answer === 'string' ? () => text(answer) : answer;
    this.#tools.set(name, { definition, answer: answerFn });
    this.capabilities.tools = { listChanged: true };
    return this;
  }

  removeTool(name: string): this {
    this.#tools.delete(name);
    return this;
  }

  prompt(name: string, answer: FakeAnswer | string, more: JsonObject = {}): this {
    const say = (words: string): FakeResult => ({
      messages: [{ role: 'user', content: { type: 'text', text: words } }],
    });
    this.#prompts.set(name, {
      definition: { name, ...more },
      answer: typeof answer === 'string' ? () => say(answer) : answer,
    });
    this.capabilities.prompts = { listChanged: true };
    return this;
  }

  resource(uri: string, answer: FakeAnswer | string, more: JsonObject = {}): this {
    const contents = (words: string): FakeResult => ({ contents: [{ uri, mimeType: 'text/plain', text: words }] });
    this.#resources.set(uri, {
      definition: { uri, name: uri, ...more },
      answer: typeof answer === 'string' ? () => contents(answer) : answer,
    });
    this.capabilities.resources = { listChanged: true, subscribe: true };
    return this;
  }

  template(uriTemplate: string, more: JsonObject = {}): this {
    this.#templates.push({ uriTemplate, name: uriTemplate, ...more });
    this.capabilities.resources = { listChanged: true, subscribe: true };
    return this;
  }

  /** Answers any method, before the built-in handlers. */
  on(method: string, answer: FakeAnswer): this {
    this.#methods.set(method, answer);
    return this;
  }

  /** Sends a notification on every open connection. */
  notify(method: string, params: JsonObject = {}): void {
    for (const tell of this.#connections) tell(method, params);
  }

  /** Opens one connection. `write` gets lines of JSON; the result accepts lines, and `end` closes it. */
  converse(write: (line: string) => void): { hear(line: string): void; end(): void } {
    this.opened++;
    const connection = new JsonRpcConnection(this, write);
    const tell = (method: string, params: JsonObject): void => connection.tell(method, params);
    this.#connections.add(tell);
    return {
      hear: (line) => connection.hear(line),
      end: () => {
        this.#connections.delete(tell);
        connection.end();
      },
    };
  }

  /** Used by the connection: the handler of a request, `undefined` without one. */
  answerFor(method: string, params: JsonObject): FakeAnswer | undefined {
    const own = this.#methods.get(method);
    if (own !== undefined) return own;
    if (method === 'tools/list')
      return () => ({ tools: [...this.#tools.values()].map(({ definition }) => definition) });
    if (method === 'prompts/list') return () => ({ prompts: [...this.#prompts.values()].map((p) => p.definition) });
    if (method === 'resources/list')
      return () => ({ resources: [...this.#resources.values()].map((r) => r.definition) });
    if (method === 'resources/templates/list') return () => ({ resourceTemplates: [...this.#templates] });
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') return () => ({});
    if (method === 'logging/setLevel') return () => ({});
    if (method === 'tools/call') return this.#tools.get(String(params.name))?.answer;
    if (method === 'prompts/get') return this.#prompts.get(String(params.name))?.answer;
    if (method === 'resources/read') return this.#resources.get(String(params.uri))?.answer;
    return undefined;
  }
}

/** Makes an empty fake server of both eras, or of the given ones. */
export function fakeServer(eras?: readonly Era[]): FakeServer {
  return new FakeServer(eras);
}

/** A tool result with one text block. */
export function text(words: string, more: JsonObject = {}): JsonObject {
  return { content: [{ type: 'text', text: words }], ...more };
}

function echo({ arguments: given }: FakeContext): JsonObject {
  return text(JSON.stringify(given));
}

/** One backend session with a fake server. */
class JsonRpcConnection {
  readonly #server: FakeServer;
  readonly #write: (line: string) => void;
  readonly #running = new Map<JsonValue, AbortController>();
  readonly #asked = new Map<string, (answer: JsonObject) => void>();
  readonly #listens = new Set<JsonValue>();
  #capabilities: JsonObject = {};
  #nextId = 1;

  constructor(server: FakeServer, write: (line: string) => void) {
    this.#server = server;
    this.#write = write;
  }

  /** A notification outside calls: directly for a legacy client, on every open listen for a modern one. */
  tell(method: string, params: JsonObject): void {
    if (this.#listens.size === 0) this.send({ jsonrpc: '2.0', method, params });
    for (const id of this.#listens)
      this.send({ jsonrpc: '2.0', method, params: { ...params, _meta: { [META.subscriptionId]: id } } });
  }

  send(message: JsonObject): void {
    this.#write(`${JSON.stringify(message)}\n`);
  }

  end(): void {
    for (const running of this.#running.values()) running.abort();
  }

  hear(line: string): void {
    const message = JSON.parse(line) as JsonObject;
    const { id, method } = message;
    if (typeof method !== 'string') return this.#answered(message);
    const params = isObject(message.params) ? message.params : {};
    if (id === undefined) return this.#notified(method, params);
    this.#server.received.push({ method, params });
    if (method === 'subscriptions/listen') this.#listen(id, params);
    else void this.#request(id, method, params);
  }

  #answered(message: JsonObject): void {
    this.#asked.get(String(message.id))?.(message);
    this.#asked.delete(String(message.id));
  }

  #notified(method: string, params: JsonObject): void {
    this.#server.received.push({ method, params });
    if (method === 'notifications/cancelled' && params.requestId !== undefined) {
      this.#running.get(params.requestId)?.abort();
      this.#listens.delete(params.requestId);
    }
  }

  #listen(id: JsonValue, { notifications = {} }: JsonObject): void {
    this.#listens.add(id);
    const params = { notifications, _meta: { [META.subscriptionId]: id } };
    this.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params });
  }

  async #request(id: JsonValue, method: string, params: JsonObject): Promise<void> {
    const meta = isObject(params._meta) ? params._meta : {};
    const era: Era = typeof meta[META.protocolVersion] === 'string' ? '2026-07-28' : '2025-11-25';
    const running = new AbortController();
    this.#running.set(id, running);
    try {
      const result = await this.#result(method, params, meta, era, running.signal);
      if (running.signal.aborted) return;
      this.#write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultText(result, era)}}\n`);
    } catch (thrown) {
      this.#write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${errorTextOf(thrown)}}\n`);
    } finally {
      this.#running.delete(id);
    }
  }

  async #result(
    method: string,
    params: JsonObject,
    meta: JsonObject,
    era: Era,
    signal: AbortSignal,
  ): Promise<FakeResult> {
    const { eras, capabilities, instructions } = this.#server;
    const about = { capabilities: { ...capabilities }, ...(instructions === undefined ? {} : { instructions }) };
    const serverInfo = { name: 'fake', version: '1' };
    const declared = meta[META.clientCapabilities];
    if (isObject(declared)) this.#capabilities = declared;
    const own = this.#server.answerFor(method, params);
    if (own !== undefined) return own(this.#context(params, meta, era, signal));
    if (method === 'ping') return {};
    if (method === 'initialize' && eras.includes('2025-11-25')) {
      if (isObject(params.capabilities)) this.#capabilities = params.capabilities;
      return { protocolVersion: '2025-11-25', serverInfo, ...about };
    }
    if (method === 'server/discover' && eras.includes('2026-07-28')) {
      return { supportedVersions: ['2026-07-28'], ...about, ttlMs: 0, cacheScope: 'private' };
    }
    if (method === 'tools/call' || method === 'prompts/get')
      throw { code: -32602, message: `${String(params.name)} not found` };
    if (method === 'resources/read') {
      const code = era === '2025-11-25' ? -32002 : -32602;
      throw { code, message: 'resource not found', data: { uri: params.uri } };
    }
    throw { code: -32601, message: `${method} is not supported` };
  }

  #context(params: JsonObject, meta: JsonObject, era: Era, signal: AbortSignal): FakeContext {
    return {
      arguments: isObject(params.arguments) ? params.arguments : {},
      meta,
      params,
      era,
      capabilities: this.#capabilities,
      signal,
      progress: (progress, total, message) => {
        const progressToken = meta.progressToken;
        if (progressToken === undefined) return;
        const more = { ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) };
        this.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, ...more } });
      },
      log: (level, data) => this.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data } }),
      ask: (method, asked) => this.#ask(method, asked),
    };
  }

  #ask(method: string, params: JsonObject): Promise<JsonObject> {
    const id = `ask-${this.#nextId++}`;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, (answer) => {
        if (isObject(answer.result)) resolve(answer.result);
        else reject(answer.error);
      });
      this.send({ jsonrpc: '2.0', id, method, params }); // last: the response may arrive before this returns
    });
  }
}

function resultText(result: FakeResult, era: Era): string {
  if (typeof result.raw === 'string') return result.raw;
  const complete = era === '2026-07-28' && !('resultType' in result) ? { resultType: 'complete', ...result } : result;
  return JSON.stringify(complete);
}

function errorTextOf(thrown: unknown): string {
  if (isObject(thrown) && typeof thrown.raw === 'string') return thrown.raw;
  const isError = isObject(thrown) && typeof thrown.code === 'number';
  return JSON.stringify(isError ? thrown : { code: -32603, message: String(thrown) });
}
