import type { Era } from '../../contract/era.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import type { ConnectionFailure } from '../failure.ts';
import type { Exchange, TransportSink } from '../sessions/backend-session.ts';
import type { HttpTarget } from './http-target.ts';

/** What the readers of responses and streams need from their transport. */
export interface HttpTransport {
  readonly backend: string;
  readonly target: HttpTarget;
  readonly sink: TransportSink;
  readonly limits: Limits;
  readonly closed: boolean;
  readonly bytes: ByteBudget;
  /** Headers of every message of this transport. */
  headers(era: Era, accept: string): Record<string, string>;
  send(body: Buffer, exchange: Exchange, era: Era): void;
  /** The first response contains the session id. */
  learnSession(id: string | undefined): void;
  /** The server does not know the session any more; requests that it refused for this did not run. */
  sessionLost(status: number): ConnectionFailure;
  /** Whether an error response means that the session has ended. */
  isSessionLoss(status: number, body: Buffer): boolean;
}
