import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Catalog } from '../catalog/catalog.ts';
import type { BackendState } from '../contract/backend.ts';
import type { SourceState } from '../contract/backend-source.ts';
import type { Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { JsonObject } from '../contract/json.ts';
import type { MessageClient, MessageConnection } from '../contract/message-client.ts';
import type { RouteReply } from '../contract/route.ts';
import type { BlockedStage } from '../extension/block-watch.ts';
import type { FetchOptions } from '../server/http/fetch-adapter.ts';
import type { HandleOptions } from '../server/http/node-adapter.ts';

/** A running gateway: one plan, assembled and sealed. */
export interface Gateway {
  readonly name: string;
  /**
   * Answers one Node HTTP request at the endpoint path or a mounted route; other paths get 404. `options` describe what a
   * framework did to the request before: read its body, removed a mount path from its URL.
   */
  handle(request: IncomingMessage, response: ServerResponse, options?: HandleOptions): void;
  /**
   * The same for web-standard servers: Hono, Next.js and others with `Request` and `Response`. Event streams wait for slow readers;
   * aborting `request.signal` or cancelling the body of the response counts as a disconnect, and gives status 499 when there is
   * no response yet. Slower than `handle`, because it copies.
   * @throws TypeError when `options.address` is not an IP address
   */
  fetch(request: Request, options?: FetchOptions): Promise<Response>;
  /**
   * What a mounted route answers to GET, for a host that protects its path itself: neither Host nor Origin are checked.
   * Rejects when the route fails.
   */
  read(path: string): Promise<RouteReply>;
  /**
   * Serves a client with one connection that carries messages, e.g. stdio: both revisions, with the hooks, limits and records that
   * requests have. Gateways that take over this one serve the connection too.
   */
  connect(client: MessageClient): MessageConnection;
  /** Calls a tool from code, with all hooks. Without a caller the anonymous one is used. */
  perform(asked: { name: string; arguments?: JsonObject; caller?: Caller; signal?: AbortSignal }): Promise<Reply>;
  /** The catalogue of a capability class; `''` for clients that declare nothing. */
  catalog(capabilityClass?: string): Catalog;
  backends(): readonly BackendState[];
  /**
   * Closes the sessions and programs of a backend and opens new ones. Calls that run there fail. Resolves after the first attempt,
   * successful or not. @throws GatewayFault BACKEND_UNKNOWN
   */
  restart(backend: string): Promise<void>;
  /** Backends that prevent readiness: unavailable ones, when a plugin requires all backends. */
  unready(): readonly string[];
  /** Plugins that blocked the event loop longer than `limits.blockedMs`, by plugin and stage, the latest last. */
  blocked(): readonly BlockedStage[];
  /** States of the sources that report one. */
  sources(): readonly SourceState[];
  /** Name of the outgoing-auth strategy towards a backend. */
  strategyOf(backend: string): string;
  /** Resolves when backends have their first lists or the discovery time has passed. */
  settled(): Promise<void>;
  /** Plugin addresses per hook, in running order. */
  taps(): Readonly<Record<string, readonly string[]>>;
  /** Counts of live objects, for status pages and leak tests. */
  counts(): {
    links: number;
    processes: number;
    callsInFlight: number;
    sessions: number;
    streams: number;
    parked: number;
    bytes: number;
  };
  /**
   * For a gateway that was replaced (`GatewayOptions.successorOf`): resolves when its own requests have ended; at once
   * for any other.
   */
  drained(): Promise<void>;
  /**
   * Ends the event streams that wait for notifications, for a host that moves its clients to other replicas. Clients open them
   * again after the retry time.
   */
  endStreams(): void;
  /** Ends streams, finishes calls within `limits.stopMs`, closes backends, stops plugins in reverse order. */
  stop(): Promise<void>;
}
