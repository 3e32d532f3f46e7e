import { PARAPHRASES, type Script } from './paraphrases.ts';

/**
 * The script that most of a text is in, when it is one that models may not read; `undefined` for Latin and for scripts
 * that are not known here.
 */
export function scriptOf(text: string): Script | undefined {
  const counts = SCRIPTS.map(({ letters, weight }) => weight * (text.match(letters)?.length ?? 0));
  const all = counts.reduce((sum, count) => sum + count, text.match(LATIN)?.length ?? 0);
  const [han = 0, kana = 0] = counts;
  if (kana > 0) counts.splice(0, 2, 0, han + kana); // Japanese is written in Han as well, no other language has Kana
  return SCRIPTS[counts.findIndex((count) => count * 2 > all)]?.name;
}

/** What to embed to find out whether a model reads a script: the pairs one after the other. */
export function probesOf(script: Script): readonly string[] {
  return PARAPHRASES[script].flat();
}

/**
 * Whether a model reads a script, by its vectors of `probesOf`.
 *
 * Each text is compared with the other texts of all pairs. A model that reads them finds its own partner nearer than
 * nearly all others: multilingual models came to 0.88 and more of these comparisons, English ones to 0.71 at most
 * (docs/retrieval.md), chance to a half.
 */
export function readsBy(vectors: readonly Float32Array[]): boolean {
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
  return compared > 0 && won / compared >= LEAST_WON;
}

const LEAST_WON = 0.8;

/** Letters of a script; in those without spaces one stands for as much as several. */
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
