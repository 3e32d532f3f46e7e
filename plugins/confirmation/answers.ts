import { hash } from 'node:crypto';
import type { Call } from '@toolmgr/core';

/** Tools that a person has allowed for one client. */
interface Answers {
  has(call: Call): boolean;
  add(call: Call): void;
}

/** Answers of a client without a session hold for this long. */
const STATELESS_MS = 3_600_000;
/** The oldest answer is given up for a new one: its tool is asked about again. */
const MAX_ANSWERS = 10_000;

/** Remembers answers for a session, or for an hour where the client has none (MCP 2026-07-28). */
export function createAnswers(now: () => number): Answers {
  const untilMs = new Map<string, number>();
  return {
    has: (call) => (untilMs.get(keyOf(call)) ?? 0) > now(),
    add(call) {
      const key = keyOf(call);
      untilMs.delete(key);
      untilMs.set(key, call.client.era === '2026-07-28' ? now() + STATELESS_MS : Number.POSITIVE_INFINITY);
      const [oldest] = untilMs.size > MAX_ANSWERS ? untilMs.keys() : [];
      if (oldest !== undefined) untilMs.delete(oldest);
    },
  };
}

/** A changed definition is another tool: what the person was told no longer holds. */
function keyOf({ client, target }: Call): string {
  const { backend, original, definition } = target;
  const parts = [client.owner.key, client.clientInfo ?? null, backend, original, definition.toString()];
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
