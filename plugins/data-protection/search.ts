import type { RawJson } from '@toolmgr/core';
import type { Detector } from './detectors.ts';
import { findIn, masked } from './find.ts';
import { isJson, withStrings } from './json-strings.ts';
import type { Action, Scope } from './scopes.ts';

/** One search in the arguments, the result or a message of a call. */
export interface Search {
  /** The JSON with what is to be masked. @throws Unsearched over the limit of bytes */
  json(json: RawJson, encoded?: ReadonlySet<string>): RawJson;
  /** Looks at a text in which nothing can be masked: a rule that masks blocks instead. @throws Unsearched */
  fixedText(text: string): void;
  /** How often each detector found something, with what was done. */
  found(): readonly Found[];
  /** Some text was left out, because it is over the limit. */
  isIncomplete(): boolean;
}

/** What one detector found. */
export interface Found {
  readonly detector: string;
  readonly action: Action;
  readonly count: number;
}

/** There is more text than is searched. */
export class Unsearched extends Error {}

/** Begins a search of at most so many bytes of text; with more of it, `refuses` throws, and otherwise the rest is left out. */
export function beginSearch({ detectors, actions }: Scope, maxTextBytes: number, refuses: boolean): Search {
  const counts = new Map<Detector, { action: Action; count: number }>();
  let bytesLeft = maxTextBytes;
  let isIncomplete = false;

  /** JSON in the text is searched as JSON; its bytes are counted once, so the depth bounds the time. */
  const inside = (text: string, key: string | undefined, mayMask: boolean, depth: number): string => {
    if (depth < MOST_LEVELS && isJson(text)) {
      const before = Buffer.from(text);
      const after = withStrings(before, (each, its) => inside(each, its ?? key, mayMask, depth + 1), undefined, true);
      return after === before ? text : after.toString();
    }
    const findings = findIn(text, key, detectors);
    for (const { detector } of findings) {
      const asked = actions.get(detector) ?? 'report';
      const action = asked === 'mask' && !mayMask ? 'block' : asked;
      const before = counts.get(detector);
      counts.set(detector, { action: before?.action === 'block' ? 'block' : action, count: (before?.count ?? 0) + 1 });
    }
    const hidden = mayMask ? findings.filter(({ detector }) => actions.get(detector) === 'mask') : [];
    return hidden.length === 0 ? text : masked(text, hidden);
  };

  const look = (text: string, key: string | undefined, bytes: number, mayMask: boolean): string => {
    if (bytes <= bytesLeft) {
      bytesLeft -= bytes;
      return inside(text, key, mayMask, 0);
    }
    if (refuses) throw new Unsearched();
    isIncomplete = true;
    // a character has at least one byte
    const searched = bytesLeft;
    bytesLeft = 0;
    return inside(text.slice(0, searched), key, mayMask, 0) + text.slice(searched);
  };

  return {
    json: (json, encoded) => withStrings(json, (text, key, bytes) => look(text, key, bytes, true), encoded),
    fixedText: (text) => void look(text, undefined, Buffer.byteLength(text), false),
    isIncomplete: () => isIncomplete,
    found: () => [...counts].map(([{ name }, counted]) => ({ detector: name, ...counted })),
  };
}

/** JSON in a string of JSON in a text; deeper in it is searched as text. */
const MOST_LEVELS = 4;
