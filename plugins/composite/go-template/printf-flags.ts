/** What stands between `%` and the verb. Width and precision count characters; `undefined` when not given. */
export interface Flags {
  readonly sharp: boolean;
  readonly zero: boolean;
  readonly plus: boolean;
  readonly minus: boolean;
  readonly space: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
  /** `%#v`: values as Go source. */
  readonly goSyntax: boolean;
}

/** A verb with nothing before it. */
export const NO_FLAGS: Flags = {
  sharp: false,
  zero: false,
  plus: false,
  minus: false,
  space: false,
  width: undefined,
  precision: undefined,
  goSyntax: false,
};

/** Padded to the width, in characters: with spaces, with zeros where asked for, on the right with `-`. */
export function padded(text: string, { width, minus, zero }: Flags): string {
  if (width === undefined || text.length >= 2 * width) return text;
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}
