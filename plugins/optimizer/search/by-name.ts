/** Tools by a name that somebody may write in a query: the advertised one, and the backend's own where it is telling. */
export type ByName = ReadonlyMap<string, readonly number[]>;

/** More than any ranking gives. */
const NAMED = 10;
const MAX_WORDS = 200;
const SEPARATORS = /[\s"'`,;:!?()[\]{}]+/;
/** Words of more than one step are nobody's everyday words. */
const TELLING = /\p{L}[_.\-/]\p{L}|\p{Ll}\p{Lu}/u;

/** Collects names; `load` and `search` are everyday words, so they count only as a whole query. */
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

/** Lifts tools that a query calls by name over all others. */
export function liftNamed(scores: Float32Array, text: string, names: ByName, allowed: Uint8Array | undefined): void {
  const words = text.split(SEPARATORS, MAX_WORDS).filter((word) => word !== '');
  for (const word of new Set(words)) {
    if (words.length > 1 && !TELLING.test(word)) continue;
    for (const tool of names.get(word.replace(/[.]+$/, '')) ?? []) {
      if (allowed?.[tool] !== 0) scores[tool] = (scores[tool] as number) + NAMED;
    }
  }
}
