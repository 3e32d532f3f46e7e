/**
 * Textbook BM25, the baseline of the ranking.
 *
 * Shape: k1 1.2, b 0.75, over one text per tool, lower-case words with split identifiers; no stemming, no stop words.
 */
export function plainBm25(texts: readonly string[]): (query: string) => Float32Array {
  const documents = texts.map(wordsOf);
  const mean = documents.reduce((sum, words) => sum + words.length, 0) / documents.length;
  const postings = new Map<string, Map<number, number>>();
  documents.forEach((words, at) => {
    for (const word of words) {
      const found = postings.get(word) ?? new Map<number, number>();
      found.set(at, (found.get(at) ?? 0) + 1);
      postings.set(word, found);
    }
  });
  return (query) => {
    const scores = new Float32Array(texts.length);
    for (const word of wordsOf(query)) {
      const found = postings.get(word) ?? new Map<number, number>();
      const rarity = Math.log(1 + (texts.length - found.size + 0.5) / (found.size + 0.5));
      for (const [at, times] of found) {
        const length = (documents[at]?.length ?? 0) / mean;
        scores[at] = (scores[at] ?? 0) + (rarity * times * (K1 + 1)) / (times + K1 * (1 - B + B * length));
      }
    }
    return scores;
  };
}

const K1 = 1.2;
const B = 0.75;

function wordsOf(text: string): readonly string[] {
  const apart = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return apart.match(/[a-z0-9]+|[^\s\p{P}\p{S}a-z0-9]+/gu) ?? [];
}
