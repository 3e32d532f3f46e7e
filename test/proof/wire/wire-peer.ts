import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Era, type JsonObject, type JsonValue, RawObject } from '@toolmgr/core';

/** The raw response to one request, and the notifications before it. */
export interface WireAnswer {
  readonly result: RawObject | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: JsonValue } | undefined;
  /** Notifications in the order they came. */
  readonly told: readonly Notification[];
}

export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

/** A raw client, so that no library adds, drops or reorders anything. */
export interface WirePeer extends AsyncDisposable {
  /** The result of `initialize`; `{}` for the stateless era. */
  readonly hello: RawObject;
  /** Sends a request, answers server requests, and repeats for the rounds of `input_required`. */
  request(method: string, params?: JsonObject): Promise<WireAnswer>;
}

/** Capabilities of a peer and its answers to server requests. */
export interface PeerOptions {
  readonly era: Era;
  readonly capabilities?: JsonObject;
  /** Called only for declared capabilities; other requests are refused with -32601. */
  readonly answer?: (method: string, params: JsonObject) => JsonObject;
  /** Headers in which a modern call repeats arguments, by argument. */
  readonly mirrored?: Readonly<Record<string, string>>;
}

/** A program and its environment beside PATH and HOME. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const ANSWER_MS = 30_000;
const MAX_ROUNDS = 10;
const INFO: JsonObject = { name: 'wire-peer', version: '1' };

/** Starts a program and connects to its stdin and stdout. */
export async function stdioPeer({ file, args, env }: Program, options: PeerOptions): Promise<WirePeer> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, args, { env: { PATH, HOME, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const talk = createTalk(options, (message) => void child.stdin.write(`${JSON.stringify(message)}\n`));
  createInterface({ input: child.stdout }).on('line', (line) => talk.read(line));
  child.on('exit', () => talk.end('the program ended'));
  child.on('error', ({ message }) => talk.end(message));
  child.stdin.on('error', () => {});
  return talk.open(() => ended(child));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  child.kill('SIGKILL');
  await exit;
}

/** Uses streamable HTTP; a legacy peer keeps the GET stream open for server requests and notifications. */
export async function httpPeer(url: string, options: PeerOptions): Promise<WirePeer> {
  const closing = new AbortController();
  const isModern = options.era === '2026-07-28';
  let session: string | undefined;
  const headersFor = (message: JsonObject): Record<string, string> => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': options.era,
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(isModern ? mirrored(message, options.mirrored) : {}),
  });
  const read = async (response: Response): Promise<void> => {
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const data of eventData(response)) talk.read(data);
    } else talk.read(await response.text());
  };
  const post = async (message: JsonObject): Promise<void> => {
    const { signal } = closing;
    const headers = headersFor(message);
    if (message.method === 'initialize') delete headers['mcp-protocol-version'];
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message), signal });
    session ??= response.headers.get('mcp-session-id') ?? undefined;
    await read(response);
    if (message.method === 'notifications/initialized') listen();
  };
  const listen = (): void => {
    const headers = { ...headersFor({}), accept: 'text/event-stream' };
    fetch(url, { headers, signal: closing.signal }).then(read).catch(gone);
  };
  const talk = createTalk(options, (message) => void post(message).catch(gone));
  const gone = (cause: unknown): void => {
    if (!closing.signal.aborted) talk.end(String(cause));
  };
  return talk.open(async () => {
    if (session !== undefined) await fetch(url, { method: 'DELETE', headers: headersFor({}) }).catch(() => undefined);
    closing.abort();
  });
}

/** The headers by which a modern request repeats its body. */
function mirrored({ method, params }: JsonObject, byArgument: PeerOptions['mirrored'] = {}): Record<string, string> {
  const { name, uri, arguments: given } = (params ?? {}) as JsonObject;
  const named = name ?? uri;
  const headers: Record<string, string> = { 'mcp-method': String(method) };
  if (typeof named === 'string') headers['mcp-name'] = named;
  for (const [argument, header] of Object.entries(byArgument)) {
    const value = (given as JsonObject | undefined)?.[argument];
    if (typeof value === 'string') headers[header] = value;
  }
  return headers;
}

/** Request ids, server requests and rounds over any transport. */
function createTalk(options: PeerOptions, send: (message: JsonObject) => void) {
  const { era, capabilities = {}, answer } = options;
  const waiting = new Map<number, (text: string) => void>();
  let told: Notification[] = [];
  let nextId = 1;
  let over: string | undefined;

  async function once(method: string, params: JsonObject): Promise<RawObject> {
    if (over !== undefined) throw new Error(over);
    const id = nextId++;
    const given =
      era === '2026-07-28' ? { ...params, _meta: { ...envelope(), ...(params._meta as JsonObject) } } : params;
    const text = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method} within ${ANSWER_MS} ms`)), ANSWER_MS);
      waiting.set(id, (line) => {
        clearTimeout(timer);
        if (line === '') reject(new Error(`no answer to ${method}: ${over}`));
        else resolve(line);
      });
      send({ jsonrpc: '2.0', id, method, params: given });
    });
    return RawObject.parse(Buffer.from(text));
  }

  const envelope = (): JsonObject => ({
    'io.modelcontextprotocol/protocolVersion': era,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': INFO,
  });

  const reply = (id: JsonValue, method: string, params: JsonObject): void => {
    const [capability = ''] = method.split('/');
    if (answer !== undefined && capabilities[capability] !== undefined) {
      send({ jsonrpc: '2.0', id, result: answer(method, params) });
    } else send({ jsonrpc: '2.0', id, error: { code: -32601, message: `the client does not support ${method}` } });
  };

  async function request(method: string, params: JsonObject = {}): Promise<WireAnswer> {
    told = [];
    let asked = params;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const message = await once(method, asked);
      const result = message.object('result');
      if (result?.string('resultType') !== 'input_required') {
        return { result, error: message.value('error') as WireAnswer['error'], told };
      }
      const questions = Object.entries((result.value('inputRequests') ?? {}) as Record<string, JsonObject>);
      const answers = questions.map(([key, question]) => [
        key,
        answer?.(String(question.method), (question.params ?? {}) as JsonObject) ?? null,
      ]);
      const requestState = result.value('requestState');
      const state = requestState === undefined ? {} : { requestState };
      asked = { ...params, inputResponses: Object.fromEntries(answers), ...state };
    }
    throw new Error(`${method} did not end within ${MAX_ROUNDS} rounds`);
  }

  return {
    read(text: string): void {
      if (text.trim() === '') return;
      const message = JSON.parse(text) as JsonObject;
      const { id, method, params } = message;
      if (typeof method === 'string') {
        const given = (params ?? {}) as JsonObject;
        if (id !== undefined) reply(id, method, given);
        else told.push({ method, params: given });
        return;
      }
      const found = waiting.get(id as number);
      waiting.delete(id as number);
      found?.(text);
    },
    end(why: string): void {
      over = why;
      for (const each of waiting.values()) each('');
      waiting.clear();
    },
    async open(close: () => Promise<void>): Promise<WirePeer> {
      try {
        const hello = era === '2026-07-28' ? RawObject.empty() : await initialize();
        return { hello, request, [Symbol.asyncDispose]: close };
      } catch (cause) {
        await close();
        throw cause;
      }
    },
  };

  async function initialize(): Promise<RawObject> {
    const message = await once('initialize', { protocolVersion: era, capabilities, clientInfo: INFO });
    const hello = message.object('result');
    if (hello === undefined) throw new Error(`initialize failed: ${message.toBytes()}`);
    send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return hello;
  }
}

/** The data of each event, as far as MCP uses event streams. */
async function* eventData(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of response.body) {
    pending += decoder.decode(chunk as Uint8Array, { stream: true }).replaceAll('\r\n', '\n');
    for (let end = pending.indexOf('\n\n'); end !== -1; end = pending.indexOf('\n\n')) {
      const lines = pending.slice(0, end).split('\n');
      pending = pending.slice(end + 2);
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
      if (data.length > 0) yield data.join('\n');
    }
  }
}
