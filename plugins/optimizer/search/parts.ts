/** Parts of a query at most; further ones stay in the whole. */
export const MAX_PARTS = 8;
const MIN_WORDS = 2;
const MAX_TEXT = 4_000;
const SENTENCES = /[.!?。！？;；]+(?:\s|$)|[。！？；]|\n+/u;
const CLAUSES = /,\s+(?:and|then|and then|also|while)\s+|\s+(?:and then|then|and also|as well as)\s+|,\s+|，/iu;
const CONJUNCTION = /\s+and\s+/iu;
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * What a query asks for one after the other; the query itself first, alone when it asks for one thing.
 *
 * Several sentences or lines are several parts; a single one is taken apart at its clauses.
 */
export function partsOf(text: string): readonly string[] {
  const whole = text.slice(0, MAX_TEXT).trim();
  const sentences = pieces(whole, SENTENCES);
  const parts = sentences.flatMap((sentence) => clauses(sentence));
  const distinct = [...new Set(parts)].filter((part) => part !== whole).slice(0, MAX_PARTS);
  return [whole, ...(distinct.length > 1 ? distinct : [])];
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
