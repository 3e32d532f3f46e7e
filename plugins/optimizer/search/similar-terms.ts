/** Finds known terms that are similar to an unknown one. */
export type SimilarTerms = (term: string) => readonly (readonly [term: number, likeness: number])[];

const MIN_LENGTH = 4;
const MIN_PART = 3;
const MAX_NEAR = 3;
const MIN_LIKENESS = 0.5;
/** Trigrams of more terms are ignored. */
const MAX_SHARED = 400;

/**
 * Finds terms by trigrams (misspellings, unusual endings), and splits compounds of two terms (`flowchart`).
 *
 * `likeness` is the Dice coefficient of the trigrams, 0 to 1. Only for terms of four letters or more.
 */
export function similarTerms(terms: ReadonlyMap<string, number>): SimilarTerms {
  const lengths: number[] = [];
  const byGram = new Map<string, number[]>();
  for (const [term, id] of terms) {
    if (term.length < MIN_LENGTH) continue;
    const grams = gramsOf(term);
    lengths[id] = grams.length;
    for (const gram of grams) {
      const ids = byGram.get(gram);
      if (ids === undefined) byGram.set(gram, [id]);
      else ids.push(id);
    }
  }
  return (term) => (term.length < MIN_LENGTH ? [] : [...asTwoTerms(term, terms), ...byTrigrams(term, byGram, lengths)]);
}

function asTwoTerms(term: string, terms: ReadonlyMap<string, number>): [number, number][] {
  for (let at = term.length - MIN_PART; at >= MIN_PART; at -= 1) {
    const [left, right] = [terms.get(term.slice(0, at)), terms.get(term.slice(at))];
    if (left !== undefined && right !== undefined)
      return [
        [left, 1],
        [right, 1],
      ];
  }
  return [];
}

function byTrigrams(
  term: string,
  byGram: ReadonlyMap<string, readonly number[]>,
  lengths: readonly number[],
): [number, number][] {
  const grams = gramsOf(term);
  const shared = new Map<number, number>();
  for (const gram of grams) {
    const ids = byGram.get(gram) ?? [];
    if (ids.length <= MAX_SHARED) for (const id of ids) shared.set(id, (shared.get(id) ?? 0) + 1);
  }
  return [...shared]
    .map(([id, count]): [number, number] => [id, (2 * count) / (grams.length + (lengths[id] ?? 0))])
    .filter(([, likeness]) => likeness >= MIN_LIKENESS)
    .sort((one, other) => other[1] - one[1] || one[0] - other[0])
    .slice(0, MAX_NEAR);
}

function gramsOf(term: string): string[] {
  const padded = `^${term}$`;
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= padded.length; at += 1) grams.add(padded.slice(at, at + 3));
  return [...grams];
}
