/** A sentence about one place of the file. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}
