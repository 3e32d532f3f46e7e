/** A message about one path of the file. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}
