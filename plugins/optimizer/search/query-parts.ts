import { MAX_QUERY_TEXT } from './keyword.ts';

/** Maximum parts of a query; of more parts the shortest neighbours are joined. */
export const MAX_PARTS = 8;
const MAX_COMPARED = 64;
const MIN_WORDS = 2;
const SENTENCES = /[.!?。！？;；]+(?:\s|$)|[。！？；]|\n+/u;
const CLAUSES = /,\s+(?:and|then|and then|also|while)\s+|\s+(?:and then|then|and also|as well as)\s+|,\s+|，/iu;
const CONJUNCTION = /\s+and\s+/iu;
const BLANKS = /[^\S\n]{2,}/g;
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Splits a query that asks for several things. The whole query comes first, alone when it has one part.
 *
 * Sentences and lines are parts; a sentence is split at its clauses.
 */
export function partsOf(text: string): readonly string[] {
  const whole = text.slice(0, MAX_QUERY_TEXT).trim();
  const even = whole.replace(BLANKS, ' '); // the separators would look at each run of blanks again and again
  const sentences = pieces(even, SENTENCES);
  const parts = sentences.flatMap((sentence) => clauses(sentence));
  const distinct = merged([...new Set(parts)].filter((part) => part !== even));
  return [whole, ...(distinct.length > 1 ? distinct : [])];
}

/** Joins the two shortest neighbours until there are at most MAX_PARTS. No word is lost. */
function merged(parts: readonly string[]): readonly string[] {
  const few = packed(parts);
  while (few.length > MAX_PARTS) {
    let shortest = 0;
    for (let at = 1; at + 1 < few.length; at += 1) {
      if (lengthOfPair(few, at) < lengthOfPair(few, shortest)) shortest = at;
    }
    few.splice(shortest, 2, `${few[shortest]}. ${few[shortest + 1]}`);
  }
  return few;
}

/** Joins neighbours of very many parts in order, because the search for the shortest takes quadratic time. */
function packed(parts: readonly string[]): string[] {
  const inEach = Math.ceil(parts.length / MAX_COMPARED);
  const bundles: string[] = [];
  for (let at = 0; at < parts.length; at += inEach) bundles.push(parts.slice(at, at + inEach).join('. '));
  return bundles;
}

function lengthOfPair(parts: readonly string[], at: number): number {
  return (parts[at]?.length ?? 0) + (parts[at + 1]?.length ?? 0);
}

function clauses(sentence: string): readonly string[] {
  const found = pieces(sentence, CLAUSES).flatMap((clause) => {
    const both = pieces(clause, CONJUNCTION);
    return both.length > 1 && both.every((half) => wordsIn(half) > MIN_WORDS) ? both : [clause];
  });
  return found.length > 1 && found.every((clause) => wordsIn(clause) >= MIN_WORDS) ? found : [sentence];
}

function pieces(text: string, separator: RegExp): readonly string[] {
  return text
    .split(separator)
    .map((piece) => piece.trim())
    .filter((piece) => wordsIn(piece) > 0);
}

function wordsIn(text: string): number {
  return text.match(WORD)?.length ?? 0;
}
