import { endToEndMeta, type JsonObject, RawObject } from '@toolmgr/core';
import { rawElements } from '../../../core/json/raw-elements.ts';
import { LISTS, type Survey, sorted } from './survey.ts';
import type { WireAnswer } from './wire-peer.ts';

/** A response without the members that a gateway owns; other members as raw bytes. */
export interface Comparable {
  readonly result?: Readonly<Record<string, string>>;
  readonly error?: JsonObject;
  /** Progress before the response; other notifications may come at any time. */
  readonly progress: readonly JsonObject[];
}

/** Replaces what differs from one run to the next, in the text of a member. */
export type Settle = (text: string) => string;

/** The comparable answers of a survey, by request. */
export function comparable(answers: Survey, settle: Settle = (text) => text): Readonly<Record<string, Comparable>> {
  return Object.fromEntries([...answers].map(([asked, answer]) => [asked, comparableAnswer(asked, answer, settle)]));
}

function comparableAnswer(asked: string, { result, error, told }: WireAnswer, settle: Settle): Comparable {
  const progress = told.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
  const list = LISTS[asked as keyof typeof LISTS];
  // a gateway supports every list, because a server may be added at any time
  if (error?.code === -32601 && list !== undefined) return { result: { [list[0]]: '' }, progress };
  if (error !== undefined) return { error: JSON.parse(settle(JSON.stringify(error))), progress };
  if (result === undefined) throw new Error(`${asked}: neither a result nor an error`);
  const members: Record<string, string> = {};
  for (const key of result.keys()) {
    const text = ownedOut(asked, key, result);
    if (text !== undefined) members[key] = settle(text);
  }
  return { result: members, progress };
}

/** What belongs to a hop: cache hints, the kind of the result, reserved `_meta`, and how far a page goes. */
const OWNED: ReadonlySet<string> = new Set(['ttlMs', 'cacheScope', 'resultType', 'nextCursor']);

function ownedOut(asked: string, key: string, result: RawObject): string | undefined {
  if (OWNED.has(key)) return undefined;
  const raw = result.get(key);
  if (key === '_meta') return endToEndMeta(raw)?.toString();
  const list = LISTS[asked as keyof typeof LISTS];
  if (raw === undefined || list?.[0] !== key) return raw?.toString();
  // the gateway sorts lists, and does not serve task execution
  const items = rawElements(raw, 50_000).map((item) => RawObject.parse(item).without('execution'));
  return sorted(items, list[1])
    .map((item) => item.toBytes().toString())
    .join('\n');
}
