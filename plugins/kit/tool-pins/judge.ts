import type { JsonObject } from '@toolmgr/core';
import type { PinnedDefinition } from './definition.ts';
import { changedMembers } from './differences.ts';
import { type EntryPins, type Held, MOST_OF_ENTRY } from './pins-file.ts';
import { type Finding, scan } from './scan.ts';

/** When a definition is used without a person. */
export type PinningMode = 'trustFirst' | 'approve' | 'scan' | 'frozen';

/** What is decided about a definition, and the pins of its entry when they changed. */
export interface Verdict {
  /** Why it is held, a clause; `undefined` when it is used. */
  readonly held?: string;
  readonly changed?: EntryPins;
}

/** What a verdict depends on besides the definition. */
export interface JudgeContext {
  readonly mode: PinningMode;
  /** The lists of the backend were seen before, so a new name is new. */
  readonly isKnown: boolean;
  readonly now: Date;
}

/** Decides about the definition of one entry. */
export function judge({ hash, definition }: PinnedDefinition, pins: EntryPins, context: JudgeContext): Verdict {
  if (pins.approved.some((each) => each.hash === hash)) return {};
  if (pins.rejected.includes(hash)) return { held: 'a person rejected it' };
  const known = pins.held.find((each) => each.hash === hash);
  if (known !== undefined && context.mode !== 'scan') return { held: known.reason };
  const findings = context.mode === 'scan' ? scan(definition) : [];
  const since = context.now.toISOString();
  if (isTrusted(context, pins, findings)) {
    const by = context.mode === 'scan' ? 'scan' : 'first use';
    return { changed: { ...pins, approved: newestFirst({ hash, definition, since, by }, pins.approved) } };
  }
  const reason = [
    whatIsNew(definition, pins),
    ...findings.slice(0, 1).map(({ finding, path }) => `${path} has ${finding}`),
  ].join(', and ');
  if (known !== undefined) return { held: known.reason };
  return { held: reason, changed: { ...pins, held: newestFirst({ hash, definition, since, reason }, pins.held) } };
}

function isTrusted({ mode, isKnown }: JudgeContext, pins: EntryPins, findings: readonly Finding[]): boolean {
  if (mode === 'scan') return findings.length === 0;
  return mode === 'trustFirst' && !isKnown && pins.approved.length === 0;
}

function whatIsNew(definition: JsonObject, { approved: [pin] }: EntryPins): string {
  if (pin === undefined) return 'it is new';
  return `its ${changedMembers(pin.definition, definition).join(', ')} changed since ${pin.since.slice(0, 10)}`;
}

function newestFirst<T extends Pick<Held, 'hash'>>(added: T, before: readonly T[]): T[] {
  return [added, ...before.filter(({ hash }) => hash !== added.hash)].slice(0, MOST_OF_ENTRY);
}

/** A person approves one held definition. `undefined` when it is not held. */
export function approved(pins: EntryPins, hash: string, by: string, now: Date): EntryPins | undefined {
  const wanted = pins.held.find((each) => each.hash === hash);
  if (wanted === undefined) return undefined;
  const { definition } = wanted;
  return {
    approved: newestFirst({ hash, definition, since: now.toISOString(), by }, pins.approved),
    held: pins.held.filter((each) => each.hash !== hash),
    rejected: pins.rejected.filter((each) => each !== hash),
  };
}

/** A person rejects one held definition: it stays held, also when it comes again. `undefined` when it is not held. */
export function rejected(pins: EntryPins, hash: string): EntryPins | undefined {
  if (!pins.held.some((each) => each.hash === hash)) return undefined;
  const others = pins.rejected.filter((each) => each !== hash);
  return { ...pins, rejected: [hash, ...others].slice(0, 4 * MOST_OF_ENTRY) };
}
