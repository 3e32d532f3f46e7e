/**
 * The candidate that `word` probably is a misspelling of, or `undefined`. The edit distance is at most a third of the
 * longer word, ignoring case; a tie goes to the first candidate.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  const asked = word.toLowerCase().slice(0, MAX_WORD);
  for (const candidate of candidates) {
    const distance = editDistance(asked, candidate.toLowerCase().slice(0, MAX_WORD));
    if (distance >= bestDistance) continue;
    if (distance > Math.max(asked.length, candidate.length) / 3) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

const MAX_WORD = 64; // longer names are not compared further

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitute, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
