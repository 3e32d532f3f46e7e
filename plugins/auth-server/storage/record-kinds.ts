const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

/** How many records of one kind the memory keeps. */
export interface KindLimit {
  readonly max: number;
  /** Characters of all its records as JSON text. */
  readonly maxChars: number;
  /** The oldest record of this age is removed for a new one; absent: a new record is refused. */
  readonly evictAfterMs?: number;
}

const BY_STRANGERS = { max: 10_000, maxChars: 64 * MIB };

/**
 * Kinds of records that strangers can create before they sign in. Their number is limited separately, and the oldest are removed,
 * so that a flood of requests displaces no tokens and no people. Registered clients limit themselves.
 */
const LIMITS: Readonly<Record<string, KindLimit>> = {
  interaction: { ...BY_STRANGERS, evictAfterMs: 0 },
  'sign-in': { ...BY_STRANGERS, evictAfterMs: 0 },
  pending: { ...BY_STRANGERS, evictAfterMs: 0 },
  // of signed-in people too: refused rather than removed for an hour
  'browser-session': { ...BY_STRANGERS, max: 50_000, evictAfterMs: HOUR_MS },
  'browser-session-uid': { ...BY_STRANGERS, max: 50_000, evictAfterMs: HOUR_MS },
};

const OTHERS: KindLimit = { max: 100_000, maxChars: 256 * MIB };

/** The text of a key before the first colon. */
export function kindOf(key: string): string {
  const end = key.indexOf(':');
  return end < 0 ? key : key.slice(0, end);
}

/** The limit of a kind. */
export function limitOf(kind: string): KindLimit {
  return Object.hasOwn(LIMITS, kind) ? (LIMITS[kind] as KindLimit) : OTHERS;
}
