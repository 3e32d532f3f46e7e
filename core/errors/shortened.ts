/** A text of at most `max` characters: a longer one ends with `…`. */
export function shortened(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
