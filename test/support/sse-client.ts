import { get, type IncomingMessage } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import { type JsonReply, post, type Reply } from './open-endpoint.ts';
import { until } from './until.ts';

/** One message on the stream of an HTTP+SSE client. */
export type SseMessage = JsonReply & { readonly method?: string; readonly params?: JsonObject };

/** A raw client of the transport HTTP+SSE. */
export interface SseClient extends Disposable {
  /** The data of the `endpoint` event. */
  readonly endpoint: string;
  /** The URL to POST to. */
  readonly messages: string;
  readonly headers: IncomingMessage['headers'];
  /** Everything that arrived, as text. */
  text(): string;
  /** All messages so far. */
  received(): readonly SseMessage[];
  /** POSTs one message. */
  send(message: JsonObject | string): Promise<Reply>;
  /** Sends a request and waits for its answer on the stream. */
  request(method: string, params?: JsonObject, id?: string | number): Promise<SseMessage>;
  /** Waits for a message. */
  next(isMeant: (message: SseMessage) => boolean): Promise<SseMessage>;
  /** The stream has ended. */
  hasEnded(): boolean;
  /** Stops and continues reading. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Connects to the event stream at `url` and waits for its first event. */
export async function connectSse(url: string, headers: Readonly<Record<string, string>> = {}): Promise<SseClient> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, resolve).on('error', reject);
  });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`status ${response.statusCode}`);
  }
  let text = '';
  let hasEnded = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  response.on('close', () => {
    hasEnded = true;
  });
  response.on('error', () => {});
  await until(() => text.includes('\n\n'));
  const endpoint = /^event: endpoint\ndata: (.*)\n\n/.exec(text)?.[1] ?? '';
  const { authorization, host } = headers;
  const messages = new URL(endpoint, url).href;
  const received = (): SseMessage[] =>
    text
      .split('\n\n')
      .filter((block) => block.startsWith('event: message\n'))
      .map((block) => JSON.parse(block.slice('event: message\ndata: '.length)));
  const next = async (isMeant: (message: SseMessage) => boolean): Promise<SseMessage> => {
    await until(() => received().some(isMeant));
    return received().find(isMeant) as SseMessage;
  };
  const send = (message: JsonObject | string): Promise<Reply> =>
    post(
      messages,
      typeof message === 'string' ? message : { jsonrpc: '2.0', ...message },
      authorization === undefined ? {} : { authorization },
    );
  return {
    endpoint,
    messages,
    headers: response.headers,
    text: () => text,
    received,
    send,
    next,
    async request(method, params = {}, id = method) {
      const { status, text: why } = await send({ id, method, params });
      if (status !== 202) throw new Error(`status ${status} ${why} ${host ?? ''}`);
      return next((message) => message.id === id && message.method === undefined);
    },
    hasEnded: () => hasEnded,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
    [Symbol.dispose]: () => void response.destroy(),
  };
}

/** Connects and initializes. */
export async function openSseSession(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  capabilities: JsonObject = {},
): Promise<SseClient> {
  const client = await connectSse(url, headers);
  const hello = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
  await client.request('initialize', hello);
  await client.send({ method: 'notifications/initialized' });
  return client;
}
