import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { Inbound, Responder } from '../contract/inbound.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import type { Message } from '../mcp/message.ts';
import type { GatewayService } from '../pipeline/gateway-service.ts';
import type { Heartbeat } from '../timing/shared-timers.ts';

/** One HTTP request at the endpoint whose caller is known. */
export interface HttpExchange {
  readonly inbound: Inbound;
  readonly responder: Responder;
  readonly caller: Caller;
}

/** How one era is served to clients. A third era is one more edge in the endpoint's table. */
export interface ProtocolServer {
  readonly era: Era;
  /** Revisions spoken, newest first. */
  readonly versions: readonly string[];
  /** Answers one message. Never rejects for what a client did. */
  post(exchange: HttpExchange, message: Message): void | Promise<void>;
  /** Other HTTP methods of the era. */
  readonly methods: Readonly<Partial<Record<'GET' | 'DELETE', (exchange: HttpExchange) => void | Promise<void>>>>;
  /** How many sessions are open. */
  sessions(): number;
  /** Ends streams gracefully and takes no new ones. */
  close(): void;
  /** Aborts the calls that are still running and frees everything. */
  stop(): Promise<void>;
}

/** What an edge works with. */
export interface ProtocolServerParts {
  readonly service: GatewayService;
  readonly limits: Limits;
  readonly log: Log;
  readonly heartbeat: Heartbeat;
  /** `false`: a request of a session may name any version in its header. */
  readonly strictProtocolVersion?: boolean;
  now(): number;
}
