import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import type { Store } from '../../../contract/store.ts';
import { createOutageLog } from '../../../extension/log-outage.ts';
import type { Log } from '../../../extension/plugin.ts';
import { isObject } from '../../../json/json-value.ts';
import { LEGACY_VERSIONS } from '../../../mcp/versions.ts';
import { LATE, within } from '../../../timing/within.ts';
import type { Session } from './session.ts';

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

/** What another replica needs to serve a session. Contains no token and no caller name. */
export interface SessionRecord {
  /** See {@link callerDigest}. */
  readonly caller: string;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly openedAtMs: number;
}

/** A session as text for the store; `undefined` when capabilities and clientInfo are too large. */
export function recordText(session: Session): string | undefined {
  const { protocolVersion, capabilities, clientInfo, openedAtMs } = session;
  const caller = callerDigest(session.id, session.caller.key);
  const text = JSON.stringify({ caller, protocolVersion, capabilities, clientInfo, openedAtMs });
  return Buffer.byteLength(text) <= MAX_RECORD_BYTES ? text : undefined;
}

/** Parses a text of the store strictly; `undefined` for anything that {@link recordText} would not write. */
export function recordFromText(text: string): SessionRecord | undefined {
  if (text.length > MAX_RECORD_BYTES) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

/** The caller of a session as a SHA-256 that differs from session to session. */
export function callerDigest(id: string, callerKey: string): string {
  return createHash('sha256').update(`${id}\0${callerKey}`).digest('hex');
}

/** Whether a record belongs to this caller. Takes constant time. */
export function isBoundTo(record: SessionRecord, id: string, callerKey: string): boolean {
  return timingSafeEqual(Buffer.from(record.caller), Buffer.from(callerDigest(id, callerKey)));
}

/** Whether a text is a well-formed session id of any replica: only such texts become part of a key. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MAX_RECORD_BYTES = 65_536;

const object = z.custom<JsonObject>(isObject);
const schema = z.strictObject({
  caller: z.string().regex(/^[0-9a-f]{64}$/),
  protocolVersion: z.enum(LEGACY_VERSIONS),
  capabilities: object,
  clientInfo: object.optional().transform((info) => info),
  openedAtMs: z.int().min(0),
});
