import { stem } from './stem.ts';

/**
 * The terms of a text: stems of its words, with identifiers split.
 *
 * Shape: `getBaziDetail` gives the parts and the whole, `read_file` its parts, `base64` its letters, its digits and the
 * whole; scripts without spaces give pairs of characters. Case, accents and width are ignored.
 * @param maxTerms maximum terms; the rest of the text is ignored
 * @param known cached terms of earlier runs; most words of a catalogue repeat
 */
export function termsOf(text: string, maxTerms: number, known: KnownRuns = new Map()): string[] {
  const terms: string[] = [];
  for (const [run] of text.normalize('NFKC').matchAll(RUN)) {
    if (terms.length >= maxTerms) break;
    terms.push(...(known.get(run) ?? termsOfRun(run, known)));
  }
  return terms.length > maxTerms ? terms.slice(0, maxTerms) : terms;
}

/** Terms by run of letters. */
export type KnownRuns = Map<string, readonly string[]>;

const MAX_KNOWN = 20_000;

function termsOfRun(run: string, known: KnownRuns): readonly string[] {
  const terms: string[] = [];
  if (SPACELESS.test(run)) pushPairs(terms, run);
  else pushWord(terms, run);
  if (known.size < MAX_KNOWN) known.set(run, terms);
  return terms;
}

const SPACELESS = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;
const RUN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]+|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]]+(?:['’]\p{L}+)?/gv;
/** Boundaries inside an identifier: aB, ABc, a1, 1a. */
const STEPS = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;
const POSSESSIVE = /['’]\p{L}+$/u;
const ACCENT = /\p{M}/gu;
/** Longer words are ids, hashes or encoded data, and are ignored. */
const MAX_WORD = 40;

function pushWord(terms: string[], run: string): void {
  if (run.length > MAX_WORD) return;
  const word = run.replace(POSSESSIVE, '');
  const parts = word.split(STEPS);
  if (parts.length > 1) for (const part of parts) if (part.length > 1) terms.push(termOf(part));
  terms.push(termOf(word));
}

function termOf(word: string): string {
  return stem(word.toLowerCase().normalize('NFD').replace(ACCENT, ''));
}

function pushPairs(terms: string[], run: string): void {
  const characters = [...run.slice(0, MAX_WORD * 8)];
  if (characters.length === 1) terms.push(run);
  for (let at = 0; at + 1 < characters.length; at += 1) terms.push(`${characters[at]}${characters[at + 1]}`);
}
