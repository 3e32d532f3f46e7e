import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { Responder } from '../contract/inbound.ts';
import type { WireError } from '../contract/wire-error.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import type { ByteBudget } from '../mcp/byte-budget.ts';
import type { Message } from '../mcp/message.ts';
import type { GatewayService } from '../pipeline/gateway-service.ts';
import type { Heartbeat } from '../timing/shared-timers.ts';
import type { RecordedInbound } from './http/request-recorder.ts';
import type { Replies } from './replies.ts';
import type { WithdrawnStreams } from './withdrawn-streams.ts';

/** One message of a client after authentication, or one request for its streams. */
export interface Exchange {
  readonly inbound: RecordedInbound;
  readonly caller: Caller;
  readonly replies: Replies;
}

/** Serves one era to clients. A third era would be one more server in the table of the router. */
export interface ProtocolServer {
  readonly era: Era;
  /** Supported revisions, newest first. */
  readonly versions: readonly string[];
  /** Answers one message. Never rejects because of what a client did. */
  post(exchange: Exchange, message: Message): void | Promise<void>;
  /** Handlers of other HTTP methods of the era. */
  readonly methods: Readonly<Partial<Record<'GET' | 'DELETE', (exchange: Exchange) => void | Promise<void>>>>;
  /** Number of open sessions. */
  sessions(): number;
  /** Ends streams gracefully and accepts no new ones. */
  close(): void;
  /** Aborts the calls that are still running and frees all resources. */
  stop(): Promise<void>;
}

/** What the endpoint serves at one path. */
export interface ServedPath {
  /** Whether POST is served; then its body is one message for {@link serverFor}. */
  readonly takesMessages: boolean;
  /** Handler of a request without a body; `undefined` when the method is not allowed. */
  bodiless(method: string): ((exchange: Exchange, responder: Responder) => void | Promise<void>) | undefined;
  /** Headers of a response to a method that is not allowed. */
  allow(): Readonly<Record<string, string>>;
  /** The server of a message, or why there is none. */
  serverFor(inbound: RecordedInbound, message: Message): Pick<ProtocolServer, 'era' | 'post'> | WireError;
}

/** What a protocol server is made with. */
export interface ProtocolServerParts {
  readonly service: GatewayService;
  readonly limits: Limits;
  readonly bytes: ByteBudget;
  readonly log: Log;
  readonly heartbeat: Heartbeat;
  readonly withdrawn: WithdrawnStreams;
  /** `false`: a request of a session may have any version in its header. */
  readonly strictProtocolVersion?: boolean;
  now(): number;
}
