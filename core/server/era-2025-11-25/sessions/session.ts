import type { Caller } from '../../../contract/caller.ts';
import type { ClientRequester, SessionOwner } from '../../../contract/client-context.ts';
import type { SessionEnded } from '../../../contract/event.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { SessionView } from '../../../contract/session.ts';
import type { HeldBytes } from '../../../mcp/byte-budget.ts';
import type { MessageId } from '../../../mcp/message.ts';
import { InFlightMap } from '../../../timing/in-flight.ts';
import { PendingClientRequests } from './pending-client-requests.ts';
import { ResumableStream, type StreamParts } from './resumable-stream.ts';
import { WatchedResources } from './watched-resources.ts';

/** What a client sent with `initialize`. */
export interface InitializeParams {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
}

/** Makes ids of one replica differ from those of another replica for the same session. */
export interface ReplicaMark {
  /** Prefix of the ids of streams. */
  readonly stream: string;
  /** Ids of requests to the client are counted from here. */
  readonly question: number;
}

/** A call that runs in a session and can be cancelled from outside. */
export interface RunningCall {
  cancel(reason: string): void;
  /** Its session has ended: it is cancelled, and its client gets an error. */
  sessionEnded(reason: SessionEnded['reason']): void;
  /** Its response may become a stream, on which requests can be sent to the client. */
  readonly mayStream?: boolean;
  readonly request?: ClientRequester;
}

/** One legacy client session. Rarely used members are created on first use, so that idle sessions are small. */
export class Session implements SessionView {
  readonly id: string;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  readonly openedAtMs: number;
  /** Key of its share of the session limit. */
  readonly share: string;
  readonly owner: SessionOwner;
  /** The caller with the token of its latest request; the identity never changes. */
  caller: Caller;
  lastUsedMs: number;
  /** When it was last moved behind the other sessions of its share. */
  placedMs: number;
  /** When the session store last confirmed it. */
  confirmedMs: number;
  /** The server may choose the level of a client that never set one (MCP 2025-11-25, logging). */
  logLevel = 'info';
  hasEnded = false;
  readonly #streamParts: StreamParts;
  readonly #mark: ReplicaMark;
  readonly #heldHello: HeldBytes | undefined;
  #calls: InFlightMap<MessageId, RunningCall> | undefined;
  #watches: WatchedResources | undefined;
  #questions: PendingClientRequests | undefined;
  #streams: Map<string, ResumableStream> | undefined;
  #finished: { readonly stream: ResumableStream; readonly atMs: number }[] = [];
  #streamCount = 0;

  constructor(
    id: string,
    caller: Caller,
    hello: InitializeParams,
    nowMs: number,
    share: string,
    streamParts: StreamParts,
    ownerOf: (session: Session) => SessionOwner,
    mark: ReplicaMark = UNMARKED,
    held?: HeldBytes,
  ) {
    this.id = id;
    this.caller = caller;
    this.protocolVersion = hello.protocolVersion;
    this.capabilities = hello.capabilities;
    this.clientInfo = hello.clientInfo;
    this.openedAtMs = nowMs;
    this.share = share;
    this.lastUsedMs = nowMs;
    this.placedMs = nowMs;
    this.confirmedMs = nowMs;
    this.#mark = mark;
    this.#heldHello = held;
    this.#streamParts = streamParts;
    this.owner = ownerOf(this);
  }

  get calls(): InFlightMap<MessageId, RunningCall> {
    this.#calls ??= new InFlightMap();
    return this.#calls;
  }

  get watches(): WatchedResources {
    this.#watches ??= new WatchedResources(this.#streamParts.stored.holder(this.share));
    return this.#watches;
  }

  get questions(): PendingClientRequests {
    this.#questions ??= new PendingClientRequests(this.#mark.question);
    return this.#questions;
  }

  /** The stream for messages outside calls; the client connects to it by GET. */
  get standalone(): ResumableStream {
    const id = this.#standaloneId;
    return this.#streams?.get(id) ?? this.#addStream(id);
  }

  /** The stream of one call. */
  openStream(): ResumableStream {
    return this.#addStream(this.#mark.stream + (++this.#streamCount).toString(36));
  }

  /** A stream that may be resumed; the standalone stream always may. */
  stream(id: string): ResumableStream | undefined {
    return id === this.#standaloneId ? this.standalone : this.#streams?.get(id);
  }

  /** Whether this is the id of the stream of {@link standalone} on another replica. */
  isStandaloneElsewhere(id: string): boolean {
    const own = this.#standaloneId;
    return own !== STANDALONE && id !== own && id.length === own.length && id.endsWith(STANDALONE);
  }

  /** A call's stream has sent its last message; it can be resumed for a grace period, at least the newest few. */
  finishStream(stream: ResumableStream, nowMs: number): void {
    this.#finished.push({ stream, atMs: nowMs });
    if (this.#finished.length > MAX_FINISHED) this.#forgetStream();
  }

  /** Drops streams that sent their last message before `beforeMs`. */
  dropFinished(beforeMs: number): void {
    while (this.#finished[0] !== undefined && this.#finished[0].atMs < beforeMs) this.#forgetStream();
  }

  /** A call is running. */
  get hasCalls(): boolean {
    return this.#calls !== undefined && this.#calls.size > 0;
  }

  /** A stream is connected or a call is running. */
  get isBusy(): boolean {
    if (this.hasCalls) return true;
    for (const stream of this.#streams?.values() ?? []) if (stream.isConnected) return true;
    return false;
  }

  /** Ends the connections that no running call needs. */
  endStandalone(): void {
    this.#streams?.get(this.#standaloneId)?.end();
  }

  /** Cancels running calls and ends open streams. Idempotent. */
  end(reason: SessionEnded['reason']): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#questions?.endAll(`the session has ended (${reason})`);
    for (const call of this.#calls?.values() ?? []) call.sessionEnded(reason);
    for (const stream of this.#streams?.values() ?? []) stream.forget();
    this.releaseHello();
  }

  /** What the client sent with `initialize` is not counted any more. */
  releaseHello(): void {
    this.#heldHello?.release();
  }

  get #standaloneId(): string {
    return this.#mark.stream + STANDALONE;
  }

  #addStream(id: string): ResumableStream {
    const stream = new ResumableStream(id, this.#streamParts, this.share);
    this.#streams ??= new Map();
    this.#streams.set(id, stream);
    return stream;
  }

  #forgetStream(): void {
    const oldest = this.#finished.shift();
    if (oldest === undefined) return;
    oldest.stream.forget();
    this.#streams?.delete(oldest.stream.id);
  }
}

const STANDALONE = '0';
const UNMARKED: ReplicaMark = { stream: '', question: 0 };
const MAX_FINISHED = 4; // streams of ended calls kept for resumption, per session
