import { PARAPHRASES, type Script } from './paraphrases.ts';

/**
 * The main script of a text when models may not be able to read it; `undefined` for Latin and unknown scripts.
 */
export function scriptOf(text: string): Script | undefined {
  const counts = SCRIPTS.map(({ letters, weight }) => weight * (text.match(letters)?.length ?? 0));
  const all = counts.reduce((sum, count) => sum + count, text.match(LATIN)?.length ?? 0);
  const [han = 0, kana = 0] = counts;
  if (kana > 0) counts.splice(0, 2, 0, han + kana); // Japanese also uses Han; no other language uses Kana
  return SCRIPTS[counts.findIndex((count) => count * 2 > all)]?.name;
}

/** The texts that test whether a model can read a script: the pairs one after the other. */
export function probeTexts(script: Script): readonly string[] {
  return PARAPHRASES[script].flat();
}

/**
 * Whether a model can read a script, by its vectors of `probeTexts`.
 *
 * Each text is compared with the texts of all pairs. For a model that can read the script, the partner is nearer than nearly
 * all others: in 0.88 or more of the comparisons for multilingual models, in at most 0.71 for English ones
 * (docs/project/retrieval.md), in 0.5 for random vectors.
 */
export function canReadScript(vectors: readonly Float32Array[]): boolean {
  const ones = vectors.filter((_, at) => at % 2 === 0);
  const others = vectors.filter((_, at) => at % 2 === 1);
  let [won, compared] = [0, 0];
  ones.forEach((one, at) => {
    const own = product(one, others[at]);
    others.forEach((other, each) => {
      if (each === at) return;
      won += Number(own > product(one, other)) + Number(own > product(ones[each], others[at]));
      compared += 2;
    });
  });
  return compared > 0 && won / compared >= MIN_WON_SHARE;
}

const MIN_WON_SHARE = 0.8;

/** Letters of a script; a letter of a script without spaces has a higher weight. */
const SCRIPTS: readonly { readonly name: Script; readonly letters: RegExp; readonly weight: number }[] = [
  { name: 'Han', letters: /\p{sc=Han}/gu, weight: 3 },
  { name: 'Kana', letters: /[\p{sc=Hiragana}\p{sc=Katakana}]/gu, weight: 3 },
  { name: 'Hangul', letters: /\p{sc=Hangul}/gu, weight: 3 },
  { name: 'Cyrillic', letters: /\p{sc=Cyrillic}/gu, weight: 1 },
  { name: 'Greek', letters: /\p{sc=Greek}/gu, weight: 1 },
  { name: 'Arabic', letters: /\p{sc=Arabic}/gu, weight: 1 },
  { name: 'Hebrew', letters: /\p{sc=Hebrew}/gu, weight: 1 },
  { name: 'Devanagari', letters: /\p{sc=Devanagari}/gu, weight: 1 },
  { name: 'Thai', letters: /\p{sc=Thai}/gu, weight: 1 },
];
const LATIN = /\p{sc=Latin}/gu;

function product(one: Float32Array | undefined, other: Float32Array | undefined): number {
  return one?.reduce((sum, value, at) => sum + value * (other?.[at] ?? 0), 0) ?? 0;
}
