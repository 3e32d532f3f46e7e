/** What is wrong at one place of a definition. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Collects what is wrong, so that one reading of a file tells all of it. */
export interface Problems {
  add(path: Problem['path'], message: string): void;
  /** The same collection, one level deeper. */
  under(...path: Problem['path']): Problems;
}

/** Makes a collection that adds to `found`. */
export function collectProblems(found: Problem[], prefix: Problem['path'] = []): Problems {
  return {
    add: (path, message) => void found.push({ path: [...prefix, ...path], message }),
    under: (...path) => collectProblems(found, [...prefix, ...path]),
  };
}
