/** Tools by the names that a query may contain: the advertised and the original name. */
export type ByName = ReadonlyMap<string, readonly number[]>;

/** More than any other score. */
const NAME_SCORE = 10;
const MAX_WORDS = 200;
const SEPARATORS = /[\s"'`,;:!?()[\]{}]+/;
/** Matches names of several words, e.g. `read_file` or `readFile`. */
const IDENTIFIER = /\p{L}[_.\-/]\p{L}|\p{Ll}\p{Lu}/u;

/** Collects names. Single words such as `load` match only as the whole query. */
export function byName(tools: readonly { readonly key: string; readonly original: string }[]): ByName {
  const found = new Map<string, number[]>();
  tools.forEach(({ key, original }, at) => {
    for (const name of new Set([key, original])) {
      const known = found.get(name);
      if (known === undefined) found.set(name, [at]);
      else known.push(at);
    }
  });
  return found;
}

/** Ranks tools that a query names above all others. */
export function boostNamed(scores: Float32Array, text: string, names: ByName, allowed: Uint8Array | undefined): void {
  const words = text.split(SEPARATORS, MAX_WORDS).filter((word) => word !== '');
  for (const word of new Set(words)) {
    if (words.length > 1 && !IDENTIFIER.test(word)) continue;
    for (const tool of names.get(word.replace(/[.]+$/, '')) ?? []) {
      if (allowed?.[tool] !== 0) scores[tool] = (scores[tool] as number) + NAME_SCORE;
    }
  }
}
