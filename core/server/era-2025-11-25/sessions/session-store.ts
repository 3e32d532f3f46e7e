import type { Store } from '../../../contract/store.ts';
import { createOutageLog } from '../../../extension/log-outage.ts';
import type { Log } from '../../../extension/plugin.ts';
import { LATE, within } from '../../../timing/within.ts';
import type { Session } from './session.ts';
import { recordFromText, recordText, type SessionRecord } from './session-record.ts';

/** The sessions of all replicas, in a store. Never rejects: a store that does not answer is a value. */
export interface SharedSessions {
  /** Writes a session down. `tooLarge` when the client said more about itself than a record may hold. */
  write(session: Session): Promise<'written' | 'tooLarge' | 'away'>;
  /** Reads a session and starts its time again. `ended` when a replica has ended it a short while ago. */
  look(id: string): Promise<SessionRecord | 'ended' | 'unknown' | 'away'>;
  /** Ends a session for every replica; `false` when the store does not answer. */
  end(id: string): Promise<boolean>;
  /** Strikes a session out without a trace: a replica that uses it goes on with it. */
  strike(id: string): Promise<void>;
}

/** A book that can be exchanged for another of the same store: its connection belongs to one gateway. */
export interface ReplaceableSharedSessions extends SharedSessions {
  exchange(next: SharedSessions): void;
}

/** Puts a book behind one that stays. */
export function exchangeable(first: SharedSessions): ReplaceableSharedSessions {
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

/** What a book works with. */
export interface SharedSessionsParts {
  /** A session is kept under its id; what comes before it is the store's own. */
  readonly store: Pick<Store, 'get' | 'set' | 'delete'>;
  /** A session nobody uses for this long is forgotten. */
  readonly idleMs: number;
  now(): number;
  readonly log: Log;
}

/**
 * For this long a store remembers that a session was ended. A session that was confirmed within this time and is not in
 * the store any more has therefore not been ended: the store has lost it.
 */
export const REMEMBERS_END_MS = 300_000;

/** Opens the book. After a failure the store is left alone for a moment, so that requests do not queue up behind it. */
export function createSharedSessions({ store, idleMs, now, log }: SharedSessionsParts): SharedSessions {
  let awayUntilMs = 0;
  const outage = createOutageLog(
    { log, now },
    { began: 'the session store does not answer', over: 'the session store answers again', level: 'error' },
  );
  const ask = async <T>(question: () => Promise<T>): Promise<T | typeof AWAY> => {
    if (now() < awayUntilMs) return AWAY;
    try {
      const answer = await within(ANSWER_MS, undefined, question());
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
      const done = await ask(() => store.set(session.id, text, idleMs));
      return done === AWAY ? 'away' : 'written';
    },
    async look(id) {
      const text = await ask(() => store.get(id, idleMs));
      if (text === AWAY) return 'away';
      if (text === undefined) return 'unknown';
      return text === ENDED ? 'ended' : (recordFromText(text) ?? 'unknown');
    },
    async end(id) {
      return (await ask(() => store.set(id, ENDED, REMEMBERS_END_MS))) !== AWAY;
    },
    async strike(id) {
      await ask(() => store.delete(id));
    },
  };
}

const AWAY = Symbol('the store does not answer');
const ENDED = 'ended'; // no JSON: never a record
const ANSWER_MS = 3_000; // a lookup is a key or two; what takes longer is as good as away
const PAUSE_MS = 1_000;
