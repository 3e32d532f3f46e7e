/** A message about one path of the file. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A path as the API server writes it: `backends[0].url`. */
export function fieldPath(path: Problem['path']): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${part}`)).join('');
}
