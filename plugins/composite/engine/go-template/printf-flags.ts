/** Flags, width and precision of a verb. Width and precision count characters; `undefined` when not given. */
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

/** The flags of a plain verb. */
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

/** Pads to the width in characters: with spaces, with zeros for `0`, on the right for `-`. */
export function padded(text: string, { width, minus, zero }: Flags): string {
  if (width === undefined || text.length >= 2 * width) return text;
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}
