/**
 * The candidate that `word` probably is a misspelling of, or `undefined`. The edit distance is at most a third of the
 * longer word, ignoring case; a tie goes to the first candidate.
 *
 * Time: words that differ more are given up early, and only so many candidates are compared, because callers choose the words.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  let compared = 0;
  const asked = word.toLowerCase().slice(0, MAX_WORD);
  for (const candidate of candidates) {
    const known = candidate.slice(0, MAX_WORD);
    const most = Math.min(bestDistance - 1, Math.floor(Math.max(asked.length, known.length) / 3));
    if (Math.abs(asked.length - known.length) > most) continue;
    if (++compared > MAX_COMPARED) break;
    const distance = editDistance(asked, known.toLowerCase(), most);
    if (distance > most) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

const MAX_WORD = 64; // longer names are not compared further
const MAX_COMPARED = 2_000; // candidates of similar length

/** Rows of {@link editDistance}, which runs to its end each time. */
let previous = new Uint8Array(MAX_WORD + 2);
let row = new Uint8Array(MAX_WORD + 2);

/** Levenshtein distance, one row at a time; more than `most` as soon as it is certain. */
function editDistance(a: string, b: string, most: number): number {
  for (let j = 0; j <= b.length; j++) previous[j] = j;
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let least = i;
    const letter = a.charCodeAt(i - 1);
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] as number) + (letter === b.charCodeAt(j - 1) ? 0 : 1);
      const distance = Math.min(substitute, (previous[j] as number) + 1, (row[j - 1] as number) + 1);
      row[j] = distance;
      if (distance < least) least = distance;
    }
    if (least > most) return least;
    [previous, row] = [row, previous];
  }
  return previous[b.length] as number;
}
