/**
 * Removes endings of English inflection and the most common derivations, so that `creating`, `created`, `creation` and
 * `creator` have one stem, and also `category` and `categorize`.
 *
 * It never changes the beginning of a word, and does not change short words and other alphabets. A wrong join of two words
 * costs less here than a missed one.
 */
export function stem(word: string): string {
  if (word.length < MIN_WORD || !ASCII_WORD.test(word)) return word;
  return withoutDerivation(withoutInflection(word));
}

const MIN_WORD = 4;
const ASCII_WORD = /^[a-z]+$/;
const VOWEL = /[aeiouy]/;
const DOUBLED = /([bdfgmnprt])\1$/;

function withoutInflection(word: string): string {
  const singular = withoutPlural(word);
  const bare = /(?:ing|ed)$/.test(singular) ? withoutTense(singular) : singular;
  return bare.length >= MIN_WORD ? bare.replace(/e$/, '') : bare;
}

function withoutPlural(word: string): string {
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutTense(word: string): string {
  const root = word.replace(/(?:ing|ed)$/, '');
  if (root.length < 3 || !VOWEL.test(root)) return word;
  return DOUBLED.test(root) ? root.slice(0, -1) : root;
}

/** Endings to remove, the longest first, with the minimum length of the rest. */
const ENDINGS: readonly (readonly [ending: string, stays: number])[] = [
  ['ization', 4],
  ['isation', 4],
  ['ation', 5],
  ['ition', 4],
  ['ment', 5],
  ['ness', 4],
  ['able', 4],
  ['ibl', 4],
  ['abl', 4],
  ['ator', 5],
  ['ion', 4],
  ['ful', 4],
  ['ial', 5],
  ['ity', 5],
  ['iv', 5],
  ['iz', 4],
  ['is', 5],
  ['ly', 4],
  ['al', 5],
  ['er', 4],
  ['or', 4],
  ['at', 5],
  ['y', 7],
];

function withoutDerivation(word: string): string {
  const ending = ENDINGS.find(([letters, stays]) => word.length - letters.length >= stays && word.endsWith(letters));
  return ending === undefined ? word : word.slice(0, word.length - ending[0].length);
}
