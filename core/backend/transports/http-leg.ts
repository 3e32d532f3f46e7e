import type { Era } from '../../contract/era.ts';
import type { Limits } from '../../limits.ts';
import type { LinkFailure } from '../failure.ts';
import type { Exchange, WireSink } from '../sessions/backend-session.ts';
import type { HttpTarget } from './http-target.ts';

/** What the readers of answers and streams need of the wire they read for. */
export interface HttpLeg {
  readonly backend: string;
  readonly target: HttpTarget;
  readonly sink: WireSink;
  readonly limits: Limits;
  readonly closed: boolean;
  /** Headers that every message of this wire carries. */
  headers(era: Era, accept: string): Record<string, string>;
  send(body: Buffer, exchange: Exchange, era: Era): void;
  /** The answer to the hello names the session. */
  learnSession(id: string | undefined): void;
  /** The server does not know the session any more; whatever it refused did not run. */
  sessionLost(status: number): LinkFailure;
  /** Whether a refusal says that the session is gone. */
  isSessionLoss(status: number, body: Buffer): boolean;
}
