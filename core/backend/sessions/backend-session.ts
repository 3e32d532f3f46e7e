import type { AuthContext, BackendHello } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Cancellation } from '../../contract/cancellation.ts';
import type { ClientRequester } from '../../contract/client-context.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Part } from '../../json/byte-pieces.ts';
import type { RawObject } from '../../json/raw-json.ts';
import type { ListKind } from '../../mcp/methods.ts';
import type { LinkFailure } from '../failure.ts';

/** Who a link is for. Read each time: the caller's token may be another than when the link was opened. */
export interface LinkHolder {
  readonly caller: Caller;
}

/** One live conversation with a backend, whatever it travels on. */
export interface BackendSession {
  /** What its hello said. */
  readonly era: Era;
  readonly hello: BackendHello;
  readonly alive: boolean;
  /** The server keeps a session of its own for this link. */
  readonly stateful: boolean;
  /** Requests without an answer yet. */
  readonly inFlight: number;
  /** Epoch milliseconds of the last request or answer. */
  readonly usedAtMs: number;
  /**
   * Sends one request and resolves with its raw result object.
   * @throws BackendError · LinkFailure · the reason of `asked.signal` when it aborts
   */
  request(asked: Asked): Promise<RawObject>;
  /** Sends one notification. @throws LinkFailure */
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Ends it; requests in flight fail. */
  close(): Promise<void>;
}

/** One request as a link takes it. */
export interface Asked {
  readonly method: string;
  /** The members of the params object in order, without `_meta`. */
  readonly params: readonly Part[];
  /** End-to-end `_meta` members as a raw object. */
  readonly meta?: RawJson;
  readonly caller: Caller;
  readonly purpose: AuthContext['purpose'];
  /** Declared in the envelope towards a modern backend. */
  readonly capabilities: JsonObject;
  readonly logLevel?: string;
  /** Extra HTTP headers, lower case; they never replace one that the link or the authorizer sets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `mcp-name` and `mcp-param-*`, towards modern HTTP backends. */
  readonly mirrored?: Readonly<Record<string, string>>;
  /** Time for the answer; progress starts it again. */
  readonly timeoutMs: number;
  /** Time for the answer, progress or not. 0 = none: a listen stream stays open. */
  readonly totalMs: number;
  readonly signal?: AbortSignal;
  /** The same, cheaper; calls have this one. */
  readonly cancel?: Cancellation;
  readonly hearer?: Hearer;
  /** Hears the notifications of a `subscriptions/listen` request. */
  readonly listener?: (method: string, params: RawObject) => void;
  /** Set for the hello of a link, before its era is known. */
  readonly era?: Era;
}

/** Who hears what a backend says about one request before the answer. */
export interface Hearer {
  readonly progressToken: RawJson | undefined;
  notify(method: string, params: RawJson): void;
  readonly request?: ClientRequester;
}

/** Who hears what a backend says outside any request. */
export interface LinkEvents {
  listChanged(kind: ListKind): void;
  /** `params` without reserved `_meta`. */
  updated(params: RawJson): void;
  logged(params: RawJson): void;
  /** Any other notification that belongs to no request. */
  notified(method: string, params: RawJson): void;
  /** Something came while several calls were in flight, and did not say to which it belongs. */
  unclear(): void;
  /** Absent when nobody can be asked. */
  readonly request?: ClientRequester;
  /** The link ended by itself. Told once, and not after `close`. */
  lost(cause: LinkFailure): void;
}

/** One request under way, as a wire sees it. */
export interface Exchange {
  readonly id: number | string;
  readonly asked: Asked;
  readonly settled: boolean;
  fail(cause: unknown): void;
  /** Set by the wire: stops sending or reading. */
  abandon: (() => void) | undefined;
}

/** Carries messages. */
export interface Wire {
  /** Closing the stream of a request withdraws it (modern HTTP); otherwise a notification does. */
  readonly closingCancels: boolean;
  readonly stateful: boolean;
  /** Sends a request. What comes back reaches the sink; a failure ends the exchange. */
  send(body: Buffer, exchange: Exchange, era: Era): void;
  /** Sends a notification or a response. @throws LinkFailure */
  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void>;
  /** The hello is done: what every later message must carry is known now. */
  agreed(era: Era, protocolVersion: string): void;
  close(): Promise<void>;
}

/** Where a wire delivers. */
export interface WireSink {
  /**
   * Takes one message. `via` is the request on whose own stream it came, when the wire knows.
   * @throws RawJsonError when it is not a JSON object
   */
  hear(message: Buffer, via: Exchange | undefined): void;
  /** Fails every request in flight; the link goes on. */
  failAll(cause: LinkFailure): void;
  /** The wire ended by itself. */
  lost(cause: LinkFailure): void;
}
