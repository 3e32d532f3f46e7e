import type { Store } from '../../../contract/store.ts';
import { createOutageLog } from '../../../extension/log-outage.ts';
import type { Log } from '../../../extension/plugin.ts';
import { LATE, within } from '../../../timing/within.ts';
import type { Session } from './session.ts';
import { recordFromText, recordText, type SessionRecord } from './session-record.ts';

/** The sessions of all replicas, in a store. Never rejects: an unavailable store is a value. */
export interface SharedSessions {
  /** Stores a session. `tooLarge` when capabilities and clientInfo exceed the size of a record. */
  write(session: Session): Promise<'written' | 'tooLarge' | 'away'>;
  /** Reads a session and restarts its time to live. `ended` when a replica has ended it recently. */
  look(id: string): Promise<SessionRecord | 'ended' | 'unknown' | 'away'>;
  /** Ends a session for every replica; `false` when the store does not answer. */
  end(id: string): Promise<boolean>;
  /** Deletes a session without marking it as ended: a replica that uses it continues. */
  strike(id: string): Promise<void>;
}

/** A session store whose implementation can be replaced: its connection belongs to one gateway. */
export interface ReplaceableSharedSessions extends SharedSessions {
  exchange(next: SharedSessions): void;
}

/** Wraps a session store so that it can be replaced. */
export function replaceableSessions(first: SharedSessions): ReplaceableSharedSessions {
  let sharedSessions = first;
  return {
    write: (session) => sharedSessions.write(session),
    look: (id) => sharedSessions.look(id),
    end: (id) => sharedSessions.end(id),
    strike: (id) => sharedSessions.strike(id),
    exchange(next) {
      sharedSessions = next;
    },
  };
}

/** What a session store is made with. */
export interface SharedSessionsParts {
  /** A session is stored under its id; the store adds its own prefix. */
  readonly store: Pick<Store, 'get' | 'set' | 'delete'>;
  /** An unused session is deleted after this time. */
  readonly idleMs: number;
  now(): number;
  readonly log: Log;
}

/**
 * How long the store remembers that a session was ended. A session that was confirmed within this time and is missing
 * in the store was therefore not ended: the store has lost it.
 */
export const REMEMBERS_END_MS = 300_000;

/** Opens the session store. After a failure the store is not used for a moment, so that requests do not queue up. */
export function createSharedSessions({ store, idleMs, now, log }: SharedSessionsParts): SharedSessions {
  let awayUntilMs = 0;
  const outage = createOutageLog(
    { log, now },
    { began: 'the session store does not answer', over: 'the session store answers again', level: 'error' },
  );
  const run = async <T>(operation: () => Promise<T>): Promise<T | typeof AWAY> => {
    if (now() < awayUntilMs) return AWAY;
    try {
      const answer = await within(ANSWER_MS, undefined, operation());
      if (answer === LATE) throw new Error(`no answer within ${ANSWER_MS} ms`);
      outage.over();
      return answer;
    } catch (cause) {
      awayUntilMs = now() + PAUSE_MS;
      outage.failed(cause);
      return AWAY;
    }
  };
  return {
    async write(session) {
      const text = recordText(session);
      if (text === undefined) return 'tooLarge';
      const done = await run(() => store.set(session.id, text, idleMs));
      return done === AWAY ? 'away' : 'written';
    },
    async look(id) {
      const text = await run(() => store.get(id, idleMs));
      if (text === AWAY) return 'away';
      if (text === undefined) return 'unknown';
      return text === ENDED ? 'ended' : (recordFromText(text) ?? 'unknown');
    },
    async end(id) {
      return (await run(() => store.set(id, ENDED, REMEMBERS_END_MS))) !== AWAY;
    },
    async strike(id) {
      await run(() => store.delete(id));
    },
  };
}

const AWAY = Symbol('the store does not answer');
const ENDED = 'ended'; // not JSON, so never a record
const ANSWER_MS = 3_000; // a look-up reads one or two keys; a slower store counts as unavailable
const PAUSE_MS = 1_000;
