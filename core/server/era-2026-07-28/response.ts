import type { CallResult } from '../../contract/call.ts';
import type { RawJson } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { RawObject } from '../../json/raw-json.ts';
import { errorBytes, membersOf, notificationParts, resultParts, retryHeaders } from '../../mcp/envelope.ts';
import { isLogWanted } from '../../mcp/log-levels.ts';
import type { RequestMessage } from '../../mcp/message.ts';
import { endToEndMeta, META, withoutPerHop } from '../../mcp/meta.ts';
import { LIST_METHODS } from '../../mcp/methods.ts';
import type { Heartbeat, HeartbeatListener } from '../../timing/shared-timers.ts';
import { MessageWriter, MUST, urgencyOf } from '../message-writer.ts';
import type { Replies } from '../replies.ts';

/** Headers of a modern response: it depends on the caller, so it must not be cached. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'cache-control': 'private, no-store',
};

/** What a pending response needs to know about its request. */
export interface PendingResponseParts {
  readonly id: RawJson;
  readonly replies: Replies;
  readonly mayStream: boolean;
  readonly logLevel: string | undefined;
  readonly hasProgressToken: boolean;
  readonly bufferBytes: number;
  readonly heartbeat: Heartbeat;
}

/**
 * The response to one modern request: plain JSON, or an event stream ended by the result, when a message precedes the
 * result or the result takes so long that the connection needs a keep-alive.
 */
export class PendingResponse implements HeartbeatListener {
  readonly #waiting: PendingResponseParts;
  #writer: MessageWriter | undefined;
  #isDone = false;
  #beats = 0;

  constructor(waiting: PendingResponseParts) {
    this.#waiting = waiting;
    if (waiting.mayStream) waiting.heartbeat.calls.add(this);
  }

  /** Sends one notification of the call, if the client requested its kind. */
  notify(method: string, params: RawJson): void {
    const { mayStream, logLevel, hasProgressToken } = this.#waiting;
    if (this.#isDone || !mayStream) return;
    if (method === 'notifications/progress' && !hasProgressToken) return;
    if (method === 'notifications/message' && !isLogWanted(params, logLevel)) return;
    const writer = this.#writer ?? this.#upgrade();
    writer.write(urgencyOf(method), () => ({ parts: notificationParts(method, withoutPerHop(params)) }));
  }

  result(parts: readonly Buffer[]): void {
    this.#finish(200, resultParts(this.#waiting.id, parts), undefined);
  }

  error(error: WireError, headers?: Readonly<Record<string, string>>): void {
    if (!this.#isDone) this.#waiting.replies.failed?.(error);
    const retry = error.status === 503 ? { ...retryHeaders(), ...headers } : headers;
    this.#finish(error.status ?? 200, [errorBytes(this.#waiting.id, error)], retry);
  }

  /** Keep-alive; the second one without a result turns the response into a stream. */
  beat(): void {
    if (this.#writer !== undefined) this.#writer.keepAlive();
    else if (++this.#beats >= PATIENCE_BEATS) this.#upgrade().keepAlive();
  }

  #finish(status: number, parts: readonly Buffer[], headers: Readonly<Record<string, string>> | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const { heartbeat, replies, mayStream } = this.#waiting;
    if (this.#writer === undefined) {
      if (mayStream) heartbeat.calls.delete(this);
      replies.send(status, headers === undefined ? ANSWER_HEADERS : { ...ANSWER_HEADERS, ...headers }, parts);
      return;
    }
    this.#writer.write(MUST, () => ({ parts }));
    this.#endStream();
  }

  #upgrade(): MessageWriter {
    const { replies, bufferBytes, heartbeat } = this.#waiting;
    const writer = new MessageWriter(replies.stream(), bufferBytes);
    this.#writer = writer;
    heartbeat.calls.delete(this);
    heartbeat.streams.add(this);
    replies.onDisconnect(() => {
      this.#isDone = true;
      this.#endStream();
    });
    return writer;
  }

  #endStream(): void {
    if (this.#writer?.isOpen !== true) return;
    this.#writer.end();
    this.#waiting.heartbeat.streams.delete(this);
  }
}

const PATIENCE_BEATS = 2;

/** Methods whose complete results must carry cache hints (MCP 2026-07-28, caching). */
const CACHEABLE: ReadonlySet<string> = new Set(['server/discover', ...LIST_METHODS, 'resources/read']);

/**
 * A result for modern clients, as buffers: the backend's members without copying, followed by the members of the era.
 *
 * Shape: the backend's reserved `_meta` is replaced by the gateway's `serverInfo`; `resultType` is always set; complete
 * results of cacheable methods get `ttlMs` (the backend's; 0 without one or after a retry) and a private scope, even
 * when the backend calls them public. Tool results without `content` get an empty list.
 */
export function modernResult(
  { method, given }: Pick<RequestMessage, 'method' | 'given'>,
  result: CallResult,
  serverInfo: RawJson,
): readonly Buffer[] {
  const members = membersOf(result);
  const parts: Buffer[] = [META_HEAD, stampedMeta(members, serverInfo)];
  if (!members.has('resultType')) parts.push(COMPLETE);
  const isComplete = result.resultType === 'complete';
  const isHinted = isComplete && CACHEABLE.has(method);
  if (isHinted) {
    const isRetry = given.inputResponses !== undefined || given.requestState !== undefined;
    const ttl = isRetry ? undefined : members.get('ttlMs');
    parts.push(TTL_HEAD, ttl !== undefined && WHOLE.test(ttl.toString('latin1')) ? ttl : ZERO, PRIVATE);
  }
  if (isComplete && method === 'tools/call' && !members.has('content')) parts.push(NO_CONTENT);
  for (const key of members.keys()) {
    if (key === '_meta' || (isHinted && (key === 'ttlMs' || key === 'cacheScope'))) continue;
    parts.push(memberHead(key), members.get(key) as RawJson);
  }
  parts.push(END);
  return parts;
}

/** `_meta` of a result that the gateway makes itself. */
export function ownMeta(serverInfo: RawJson, subscriptionId?: RawJson): RawJson {
  const own = RawObject.empty().with(META.serverInfo, serverInfo);
  return (subscriptionId === undefined ? own : own.with(META.subscriptionId, subscriptionId)).toBytes();
}

function stampedMeta(members: RawObject, serverInfo: RawJson): RawJson {
  const kept = endToEndMeta(members.get('_meta'));
  if (kept !== undefined) return RawObject.parse(kept).with(META.serverInfo, serverInfo).toBytes();
  let own = ownMetas.get(serverInfo);
  if (own === undefined) {
    own = ownMeta(serverInfo);
    ownMetas.set(serverInfo, own);
  }
  return own;
}

/** Most results have no `_meta` of their own: the bytes of theirs are made once per gateway. */
const ownMetas = new WeakMap<RawJson, RawJson>();

function memberHead(key: string): Buffer {
  return MEMBER_HEADS.get(key) ?? Buffer.from(`,${JSON.stringify(key)}:`);
}

const KNOWN = ['content', 'structuredContent', 'isError', 'resultType', 'messages', 'contents', 'description'] as const;
const MEMBER_HEADS: ReadonlyMap<string, Buffer> = new Map(KNOWN.map((key) => [key, Buffer.from(`,"${key}":`)]));
const META_HEAD = Buffer.from('{"_meta":');
const END = Buffer.from('}');
const COMPLETE = Buffer.from(',"resultType":"complete"');
const TTL_HEAD = Buffer.from(',"ttlMs":');
const ZERO = Buffer.from('0');
const PRIVATE = Buffer.from(',"cacheScope":"private"');
const NO_CONTENT = Buffer.from(',"content":[]');
const WHOLE = /^\d{1,15}$/;
