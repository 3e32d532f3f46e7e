/** An error at one path of a definition. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Collects all errors of a file, so that one run reports them together. */
export interface Problems {
  add(path: Problem['path'], message: string): void;
  /** The same collection with a longer path prefix. */
  under(...path: Problem['path']): Problems;
}

/** Makes a collection that adds to `found`. */
export function collectProblems(found: Problem[], prefix: Problem['path'] = []): Problems {
  return {
    add: (path, message) => void found.push({ path: [...prefix, ...path], message }),
    under: (...path) => collectProblems(found, [...prefix, ...path]),
  };
}
