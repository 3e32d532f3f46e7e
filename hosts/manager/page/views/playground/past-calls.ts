import { signal } from '@preact/signals';
import type { Json, McpAnswer } from '../../app/mcp-shapes.ts';
import { plainSchema } from '../../widgets/form-schema.ts';

export const MAX_CALLS = 50;
/** Of all calls together, as JSON. */
export const MAX_BYTES = 8 * 1024 * 1024;
/** Of one answer, as JSON; a call with a longer one stays without it. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_DEPTH = 20;

/** A call that was tried. */
export interface PastCall {
  /** When it ended, in milliseconds since 1970; later than that of the call before. */
  readonly id: number;
  /** The endpoint, as links name it. */
  readonly endpoint: string;
  readonly kind: string;
  /** The tool, prompt or resource. */
  readonly key: string;
  readonly values: Json;
  /** Names whose values are not shown. */
  readonly secrets: ReadonlySet<string>;
  readonly outcome: 'ok' | 'toolError' | 'error' | 'cancelled';
  readonly ms: number;
  /** Absent when there was none, or when it was too long. */
  readonly answer?: McpAnswer;
  /** Of the values and the answer, as JSON. */
  readonly bytes: number;
}

/**
 * The calls that were tried, newest first. Values may be secret although no schema says so, so they are in the memory of the page
 * only: a reload, another tab or the next person who signs in has none of them.
 */
export const pastCalls = signal<readonly PastCall[]>([]);

/** Adds a call that has ended. The oldest are forgotten when there are too many, and those for which no bytes are left. */
export function remember({ answer, ...call }: Omit<PastCall, 'id' | 'bytes'>): void {
  const id = Math.max(Date.now(), (pastCalls.value[0]?.id ?? 0) + 1);
  const answerBytes = bytesOf(answer);
  const stays = answer !== undefined && answerBytes <= MAX_ANSWER_BYTES;
  const bytes = bytesOf(call.values) + (stays ? answerBytes : 0);
  pastCalls.value = withinBounds([{ ...call, ...(stays ? { answer } : {}), id, bytes }, ...pastCalls.value]);
}

/** Forgets the calls of an endpoint, or all. */
export function forgetCalls(endpoint?: string): void {
  pastCalls.value = endpoint === undefined ? [] : pastCalls.value.filter((call) => call.endpoint !== endpoint);
}

/** Values as a person may see them: those of the given names are replaced, at every depth. */
export function withoutSecrets(value: unknown, secrets: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, secrets.has(name) ? '••••' : withoutSecrets(member, secrets)]),
  );
}

/** Names of the members that a schema calls secret, at every depth. */
export function secretsOf(schema: unknown, root = schema, depth = 0): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return new Set();
  return new Set(
    Object.entries(schema).flatMap(([name, member]: [string, unknown]) => [
      ...(isSecret(member, root) ? [name] : []),
      ...secretsOf(member, root, depth + 1),
    ]),
  );
}

/** `seen`: the schemas that were asked already. Each is asked once, since forms may refer to each other again and again. */
function isSecret(schema: unknown, root: unknown, seen = new Set<unknown>(), depth = 0): boolean {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH || seen.has(schema)) return false;
  seen.add(schema);
  const { format, writeOnly, items, anyOf = [], oneOf = [], allOf = [] } = plainSchema(schema, root);
  const parts = [items, anyOf, oneOf, allOf].flat();
  return format === 'password' || writeOnly === true || parts.some((part) => isSecret(part, root, seen, depth + 1));
}

function withinBounds(calls: readonly PastCall[]): readonly PastCall[] {
  let total = 0;
  return calls.slice(0, MAX_CALLS).filter(({ bytes }) => {
    if (total + bytes > MAX_BYTES) return false;
    total += bytes;
    return true;
  });
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : new TextEncoder().encode(JSON.stringify(value)).length;
}
