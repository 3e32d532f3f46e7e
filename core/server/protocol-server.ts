import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { Responder } from '../contract/inbound.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import type { Message } from '../mcp/message.ts';
import type { GatewayService } from '../pipeline/gateway-service.ts';
import type { Heartbeat } from '../timing/shared-timers.ts';
import type { RecordedInbound } from './http/request-recorder.ts';

/** One HTTP request at the endpoint, after authentication. */
export interface HttpExchange {
  readonly inbound: RecordedInbound;
  readonly responder: Responder;
  readonly caller: Caller;
}

/** Serves one era to clients. A third era would be one more server in the table of the router. */
export interface ProtocolServer {
  readonly era: Era;
  /** Supported revisions, newest first. */
  readonly versions: readonly string[];
  /** Answers one message. Never rejects because of what a client did. */
  post(exchange: HttpExchange, message: Message): void | Promise<void>;
  /** Handlers of other HTTP methods of the era. */
  readonly methods: Readonly<Partial<Record<'GET' | 'DELETE', (exchange: HttpExchange) => void | Promise<void>>>>;
  /** Number of open sessions. */
  sessions(): number;
  /** Ends streams gracefully and accepts no new ones. */
  close(): void;
  /** Aborts the calls that are still running and frees all resources. */
  stop(): Promise<void>;
}

/** What a protocol server is made with. */
export interface ProtocolServerParts {
  readonly service: GatewayService;
  readonly limits: Limits;
  readonly log: Log;
  readonly heartbeat: Heartbeat;
  /** `false`: a request of a session may have any version in its header. */
  readonly strictProtocolVersion?: boolean;
  now(): number;
}
