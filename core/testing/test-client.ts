import type { Era } from '../contract/era.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isObject } from '../json/json-value.ts';
import { encodeHeaderValue } from '../mcp/headers.ts';
import { META } from '../mcp/meta.ts';

/** Settings of a test client. */
export interface TestClientOptions {
  /** Default: modern. */
  readonly era?: Era;
  readonly capabilities?: JsonObject;
  /** Extra request headers, e.g. `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers server requests; without it they are declined with -32601. A thrown `{ code, message }` declines too. */
  readonly answer?: (method: string, params: JsonObject) => JsonObject | Promise<JsonObject>;
}

/** A JSON-RPC response with its HTTP status. */
export interface TestReply {
  readonly status: number;
  readonly result: JsonObject | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonValue } | undefined;
  /** Notifications before the response. */
  readonly told: readonly JsonObject[];
  /** The response unchanged. */
  readonly text: string;
}

/** A client of either protocol revision, over any `fetch`: a gateway in memory, or a real URL. */
export interface TestClient {
  /** Aborting `signal` closes the request's connection. */
  request(method: string, params?: JsonObject, signal?: AbortSignal): Promise<TestReply>;
  /** Resolves with the HTTP status. */
  notify(method: string, params?: JsonObject): Promise<number>;
  /** The result of a tool; rejects on a JSON-RPC error. Answers server requests meanwhile. */
  callTool(name: string, given?: JsonObject, meta?: JsonObject): Promise<JsonObject>;
  /** Names in the order of the lists, all pages. */
  toolNames(): Promise<string[]>;
  /** Ends a legacy session. */
  close(): Promise<void>;
}

/** Makes a client and, for legacy, opens its session. */
export async function testClient(
  fetch: (request: Request) => Promise<Response>,
  url: string,
  options: TestClientOptions = {},
): Promise<TestClient> {
  const client = new Client(fetch, url, options);
  if (options.era === '2025-11-25') await client.open();
  return client;
}

const MAX_ROUNDS = 10;
const MAX_PAGES = 100;

class Client implements TestClient {
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #url: string;
  readonly #options: TestClientOptions;
  #session: string | undefined;
  #nextId = 1;

  constructor(fetch: (request: Request) => Promise<Response>, url: string, options: TestClientOptions) {
    this.#fetch = fetch;
    this.#url = url;
    this.#options = options;
  }

  async open(): Promise<void> {
    const { capabilities = {} } = this.#options;
    const clientInfo = { name: 'test-client', version: '1' };
    const reply = await this.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    if (reply.result === undefined) throw new Error(`initialize failed: ${reply.status} ${reply.text}`);
    await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, {});
  }

  async notify(method: string, params: JsonObject = {}): Promise<number> {
    const version = this.#isModern ? '2026-07-28' : '2025-11-25';
    const headers = { 'mcp-protocol-version': version, ...(this.#isModern ? { 'mcp-method': method } : {}) };
    return (await this.#post({ jsonrpc: '2.0', method, params }, headers)).status;
  }

  async request(method: string, params: JsonObject = {}, signal?: AbortSignal): Promise<TestReply> {
    const id = this.#nextId++;
    const full = this.#isModern ? { ...params, _meta: { ...this.#envelope(), ...asObject(params._meta) } } : params;
    const name = params.name ?? params.uri;
    const headers: Record<string, string> = this.#isModern
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }
      : { 'mcp-protocol-version': '2025-11-25' };
    if (this.#isModern && typeof name === 'string') headers['mcp-name'] = encodeHeaderValue(name);
    const response = await this.#post({ jsonrpc: '2.0', id, method, params: full }, headers, signal);
    this.#session ??= response.headers.get('mcp-session-id') ?? undefined;
    return this.#read(response, id);
  }

  async callTool(name: string, given: JsonObject = {}, meta?: JsonObject): Promise<JsonObject> {
    const asked = { name, arguments: given, ...(meta === undefined ? {} : { _meta: meta }) };
    let params: JsonObject = asked;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { result, error, text } = await this.request('tools/call', params);
      if (error !== undefined) throw Object.assign(new Error(error.message), error);
      if (result === undefined) throw new Error(`no answer: ${text}`);
      if (result.resultType !== 'input_required') return result;
      const inputResponses = await this.#answers(asObject(result.inputRequests));
      const state = result.requestState === undefined ? {} : { requestState: result.requestState };
      params = { ...asked, inputResponses, ...state };
    }
    throw new Error(`no end after ${MAX_ROUNDS} rounds`);
  }

  async toolNames(): Promise<string[]> {
    const names: string[] = [];
    let cursor: JsonValue | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { result, text } = await this.request('tools/list', cursor === undefined ? {} : { cursor });
      if (result === undefined) throw new Error(`tools/list failed: ${text}`);
      const tools = Array.isArray(result.tools) ? (result.tools as JsonObject[]) : [];
      names.push(...tools.map(({ name }) => String(name)));
      cursor = result.nextCursor;
      if (cursor === undefined) return names;
    }
    throw new Error(`more than ${MAX_PAGES} pages`);
  }

  async close(): Promise<void> {
    if (this.#session === undefined) return;
    await this.#fetch(new Request(this.#url, { method: 'DELETE', headers: this.#headers({}) }));
  }

  get #isModern(): boolean {
    return this.#options.era !== '2025-11-25';
  }

  #envelope(): JsonObject {
    return {
      [META.protocolVersion]: '2026-07-28',
      [META.clientCapabilities]: this.#options.capabilities ?? {},
      [META.clientInfo]: { name: 'test-client', version: '1' },
    };
  }

  #headers(more: Readonly<Record<string, string>>): Record<string, string> {
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
      ...more,
      ...this.#options.headers,
    };
  }

  #post(message: JsonObject, more: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response> {
    const init = { method: 'POST', headers: this.#headers(more), body: JSON.stringify(message) };
    return this.#fetch(new Request(this.#url, signal === undefined ? init : { ...init, signal }));
  }

  async #read(response: Response, id: number): Promise<TestReply> {
    const { status } = response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const told: JsonObject[] = [];
    for await (const text of isStream ? eventData(response) : [await response.text()]) {
      const message = parsed(text);
      if (message === undefined) return { status, result: undefined, error: undefined, told, text };
      if (typeof message.method === 'string') {
        if (message.id === undefined) told.push(message);
        else await this.#reply(message);
        continue;
      }
      if (message.id !== id && message.id !== undefined && message.id !== null && message.error === undefined) continue;
      const result = isObject(message.result) ? message.result : undefined;
      const error = message.error as TestReply['error'];
      return { status, result, error, told, text };
    }
    return { status, result: undefined, error: undefined, told, text: '' };
  }

  /** Answers a server request during a call. */
  async #reply(question: JsonObject): Promise<void> {
    const { id } = question;
    const answered = await this.#answered(question);
    await this.#post({ jsonrpc: '2.0', id, ...answered }, { 'mcp-protocol-version': '2025-11-25' });
  }

  async #answered({ method, params }: JsonObject): Promise<JsonObject> {
    const { answer } = this.#options;
    if (answer === undefined) return { error: { code: -32601, message: 'not supported' } };
    try {
      return { result: await answer(String(method), asObject(params)) };
    } catch (thrown) {
      if (!isObject(thrown) || typeof thrown.code !== 'number') throw thrown;
      return { error: thrown };
    }
  }

  async #answers(requests: JsonObject): Promise<JsonObject> {
    const { answer } = this.#options;
    const answers: Record<string, JsonValue> = {};
    for (const [key, request] of Object.entries(requests)) {
      const { method, params } = asObject(request);
      if (answer !== undefined) answers[key] = await answer(String(method), asObject(params));
    }
    return answers;
  }
}

/** The data of each event of a stream (WHATWG HTML, server-sent events), as far as MCP uses it. */
async function* eventData(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of response.body) {
    pending += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = pending.indexOf('\n\n'); end !== -1; end = pending.indexOf('\n\n')) {
      const event = pending.slice(0, end);
      pending = pending.slice(end + 2);
      const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
      const text = data.join('\n');
      if (text !== '') yield text;
    }
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}
