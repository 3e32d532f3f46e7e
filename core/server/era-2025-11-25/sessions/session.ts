import type { CatalogEntry } from '../../../contract/call.ts';
import type { Caller } from '../../../contract/caller.ts';
import type { ClientRequester, SessionOwner } from '../../../contract/client-context.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { SessionView } from '../../../contract/session.ts';
import type { MessageId } from '../../../mcp/message.ts';
import { InFlightMap } from '../../../timing/in-flight.ts';
import { Questions } from './pending-client-requests.ts';
import { ResumableStream, type StreamParts } from './resumable-stream.ts';

/** What a client said when it opened its session. */
export interface ClientHello {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
}

/** What makes ids of one replica differ from those that another gives out for the same session. */
export interface SessionMark {
  /** Before the ids of streams. */
  readonly stream: string;
  /** Questions are counted from here. */
  readonly question: number;
}

/** A call that runs in a session and can be cancelled from outside. */
export interface RunningCall {
  cancel(reason: string): void;
  /** Its answer may be a stream, on which the client can be asked. */
  readonly mayStream?: boolean;
  readonly ask?: ClientRequester;
}

/** One legacy client session. What most sessions never need is made on first use: an idle one is small. */
export class Session implements SessionView {
  readonly id: string;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  readonly openedAtMs: number;
  /** Whose share of sessions it counts against. */
  readonly share: string;
  readonly owner: SessionOwner;
  /** The caller with the token of its latest request; the identity never changes. */
  caller: Caller;
  lastUsedMs: number;
  /** When it was last put behind the other sessions of its share. */
  placedMs: number;
  /** When the session store last knew it. */
  confirmedMs: number;
  logLevel: string | undefined;
  hasEnded = false;
  readonly #streamParts: StreamParts;
  readonly #mark: SessionMark;
  #calls: InFlightMap<MessageId, RunningCall> | undefined;
  #watches: Map<string, CatalogEntry> | undefined;
  #questions: Questions | undefined;
  #streams: Map<string, ResumableStream> | undefined;
  #finished: { readonly stream: ResumableStream; readonly atMs: number }[] = [];
  #streamCount = 0;

  constructor(
    id: string,
    caller: Caller,
    hello: ClientHello,
    nowMs: number,
    share: string,
    streamParts: StreamParts,
    ownerOf: (session: Session) => SessionOwner,
    mark: SessionMark = UNMARKED,
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
    this.#streamParts = streamParts;
    this.owner = ownerOf(this);
  }

  get calls(): InFlightMap<MessageId, RunningCall> {
    this.#calls ??= new InFlightMap();
    return this.#calls;
  }

  get watches(): Map<string, CatalogEntry> {
    this.#watches ??= new Map();
    return this.#watches;
  }

  get questions(): Questions {
    this.#questions ??= new Questions(this.#mark.question);
    return this.#questions;
  }

  /** The stream of what belongs to no call; the client connects to it by GET. */
  get standalone(): ResumableStream {
    const id = this.#standaloneId;
    return this.#streams?.get(id) ?? this.#addStream(id);
  }

  /** The stream of one call. */
  openStream(): ResumableStream {
    return this.#addStream(this.#mark.stream + (++this.#streamCount).toString(36));
  }

  /** A stream that may be resumed; the standalone one always may. */
  stream(id: string): ResumableStream | undefined {
    return id === this.#standaloneId ? this.standalone : this.#streams?.get(id);
  }

  /** A call's stream has had its last message; it may be resumed for a grace time, the newest few at least. */
  finishStream(stream: ResumableStream, nowMs: number): void {
    this.#finished.push({ stream, atMs: nowMs });
    if (this.#finished.length > MAX_FINISHED) this.#forgetStream();
  }

  /** Forgets streams that had their last message before `beforeMs`. */
  dropFinished(beforeMs: number): void {
    while (this.#finished[0] !== undefined && this.#finished[0].atMs < beforeMs) this.#forgetStream();
  }

  /** Somebody waits for an answer. */
  get hasCalls(): boolean {
    return this.#calls !== undefined && this.#calls.size > 0;
  }

  /** Somebody is connected or waits for an answer. */
  get isBusy(): boolean {
    if (this.hasCalls) return true;
    for (const stream of this.#streams?.values() ?? []) if (stream.isConnected) return true;
    return false;
  }

  /** Ends the connections that no running call needs. */
  endStandalone(): void {
    this.#streams?.get(this.#standaloneId)?.end();
  }

  /** Cancels what runs and ends what is open. Idempotent. */
  end(why: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#questions?.endAll(why);
    for (const call of this.#calls?.values() ?? []) call.cancel(why);
    for (const stream of this.#streams?.values() ?? []) stream.end();
  }

  get #standaloneId(): string {
    return this.#mark.stream + STANDALONE;
  }

  #addStream(id: string): ResumableStream {
    const stream = new ResumableStream(id, this.#streamParts);
    this.#streams ??= new Map();
    this.#streams.set(id, stream);
    return stream;
  }

  #forgetStream(): void {
    const oldest = this.#finished.shift();
    if (oldest === undefined) return;
    oldest.stream.end();
    this.#streams?.delete(oldest.stream.id);
  }
}

const STANDALONE = '0';
const UNMARKED: SessionMark = { stream: '', question: 0 };
const MAX_FINISHED = 4; // streams of ended calls kept for resumption, per session
