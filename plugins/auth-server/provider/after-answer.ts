import type { IncomingMessage } from 'node:http';
import { explainCause, type Log } from '@toolmgr/core';

type Work = () => Promise<void>;

/** How long a client may take to receive a response before it counts as received. */
const RECEIVED_AFTER_MS = 2_000;

const waiting = new WeakMap<IncomingMessage, Work>();

/** Runs `work` when the client has received the response to a request; not when it disconnected before. */
export function afterAnswer(request: IncomingMessage, work: Work): void {
  waiting.set(request, work);
}

/** The work that waits until clients have received their responses. */
export interface AnswerFollowUps {
  /** Call it after the response was sent. `connection.isGone`: the client disconnected before it had the whole response. */
  add(request: IncomingMessage, connection: { readonly isGone: boolean }): void;
  /** Runs what waits, at once. */
  close(): Promise<void>;
}

/** Creates the follow-ups of one server. A failure is logged. */
export function createAnswerFollowUps(log: Log): AnswerFollowUps {
  const pending = new Map<NodeJS.Timeout, Work>();
  const run = (work: Work): Promise<void> =>
    work().catch((cause: unknown) => log.warn('a delivered token was not recorded', { cause: explainCause(cause) }));
  return {
    add(request, connection) {
      const work = waiting.get(request);
      if (work === undefined) return;
      waiting.delete(request);
      const checked = async (): Promise<void> => (connection.isGone ? undefined : work());
      const timer = setTimeout(() => {
        pending.delete(timer);
        void run(checked);
      }, RECEIVED_AFTER_MS).unref();
      pending.set(timer, checked);
    },
    async close() {
      const left = [...pending];
      pending.clear();
      for (const [timer] of left) clearTimeout(timer);
      await Promise.all(left.map(([, work]) => run(work)));
    },
  };
}
