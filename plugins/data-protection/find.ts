import type { Detector } from './detectors.ts';

/** One place in a text, in UTF-16 code units. */
export interface Finding {
  readonly detector: Detector;
  readonly start: number;
  readonly end: number;
}

/**
 * What detectors find in a text. `key`: the name of the member whose value the text is. Time: in proportion to the text; after a match
 * that its validator refuses, the search continues at the next character, and each match is short.
 */
export function findIn(text: string, key: string | undefined, detectors: readonly Detector[]): Finding[] {
  const found: Finding[] = [];
  if (text.length < SHORTEST) return found;
  const plain = text.includes('\\') ? text.replace(ESCAPE, asItMeans) : text;
  for (const detector of detectors) {
    const { needs, readsKeys, pattern, rest, validator } = detector;
    if (needs !== undefined && !needs.some((needed) => text.includes(needed))) continue;
    const before = readsKeys === true && key !== undefined ? `${key}=` : '';
    const subject = before + plain;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(subject); match !== null; match = pattern.exec(subject)) {
      const value = (match.groups?.lead ?? '') + (match.groups?.value ?? match[0]);
      let length = validator === undefined ? value.length : validator(value);
      if (length === 0) {
        pattern.lastIndex = match.index + 1;
        continue;
      }
      const start = match.index + match[0].length - value.length;
      if (rest !== undefined) {
        rest.lastIndex = start + length;
        length =
          before !== '' && start === before.length ? text.length : length + (rest.exec(subject)?.[0].length ?? 0);
      }
      if (start >= before.length)
        found.push({ detector, start: start - before.length, end: start + length - before.length });
      pattern.lastIndex = start + length;
    }
  }
  return found;
}

/** No detector finds anything in less. */
const SHORTEST = 6;
/** Of JSON or source code in a text. Its letter begins no word, and its quote ends a value. */
const ESCAPE = /\\{1,3}["'nrtbf]/g;

/** In as many characters, so that places stay the same. */
const asItMeans = (escaped: string): string =>
  (/["']$/.test(escaped) ? escaped.slice(-1) : '\n').repeat(escaped.length);

/** The text with each finding as `[name]`. Where findings overlap, the one whose detector comes first in the table gives the name. */
export function masked(text: string, findings: readonly Finding[]): string {
  const sorted = findings.map((finding, rank) => ({ ...finding, rank })).sort((a, b) => a.start - b.start);
  let out = '';
  let at = 0;
  for (let index = 0; index < sorted.length; ) {
    const { start } = sorted[index] as RankedFinding;
    let named = sorted[index] as RankedFinding;
    let { end } = named;
    for (index++; index < sorted.length && (sorted[index] as RankedFinding).start < end; index++) {
      const next = sorted[index] as RankedFinding;
      end = Math.max(end, next.end);
      if (next.rank < named.rank) named = next;
    }
    out += `${text.slice(at, start)}[${named.detector.name}]`;
    at = end;
  }
  return out + text.slice(at);
}

/** `rank`: place among the findings, which are in the order of the table. */
type RankedFinding = Finding & { readonly rank: number };
