import type { Inbound } from '../contract/inbound.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { Log } from '../extension/plugin.ts';

/** Is notified of callers whose token was rejected. */
export interface RejectedTokens {
  note(inbound: Inbound, refusal: Refusal): void;
  stop(): void;
}

/**
 * Logs why tokens are rejected, never the tokens, so that operators can help clients that fail to authenticate. Every
 * client can send tokens, so only the first ones of each window are logged, followed by the number of further ones.
 */
export function createRejectedTokens(log: Pick<Log, 'info'>): RejectedTokens {
  let inWindow = 0;
  let closing: NodeJS.Timeout | undefined;
  const close = (): void => {
    if (inWindow > MOST_LINES) log.info('more tokens were rejected', { count: inWindow - MOST_LINES });
    inWindow = 0;
    closing = undefined;
  };
  return {
    note({ headers, path, remoteAddress }, { status, reason }) {
      // without a token a 401 tells a client where to get one; 429 and 503 are not about the token
      if (headers.authorization === undefined || (status !== 401 && status !== 403)) return;
      closing ??= setTimeout(close, WINDOW_MS).unref();
      if (++inWindow > MOST_LINES) return;
      log.info('a token was rejected', {
        status,
        reason,
        path,
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
      });
    },
    stop() {
      clearTimeout(closing);
      close();
    },
  };
}

const WINDOW_MS = 10_000;
const MOST_LINES = 10; // per window
