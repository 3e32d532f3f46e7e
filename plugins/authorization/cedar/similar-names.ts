import { foldCase, type JsonObject } from '@toolmgr/core';

/** An argument, and the one that policies read, which a server may take for the same. */
export interface SimilarName {
  readonly name: string;
  readonly other: string;
}

/** Finds arguments whose names differ only by case from names that policies read: a server may accept `Path` for `path`. */
export function similarNames(names: readonly string[]): (given: JsonObject) => readonly SimilarName[] {
  const exact = new Set(names);
  const folded = new Map([...exact].map((name) => [foldCase(name), name]));
  const longest = Math.max(0, ...[...folded.keys()].map((name) => name.length)) * MOST_FOLDED;
  return (given) => {
    let found: SimilarName[] | undefined;
    for (const name in given) {
      if (name.length > longest || exact.has(name)) continue;
      const other = folded.get(foldCase(name));
      if (other === undefined) continue;
      found ??= [];
      found.push({ name, other });
    }
    return found ?? NONE;
  };
}

const NONE: readonly SimilarName[] = [];
const MOST_FOLDED = 2; // folding makes one code unit of at most two
