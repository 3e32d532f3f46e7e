/**
 * The text in which names are equal when some JSON reader takes them for one name.
 *
 * Go's encoding/json, Jackson and others find a member without regard to case, by Unicode simple folding: `K` (Kelvin
 * sign) is `k`, `ſ` is `s`. Full upper case is coarser than that, so nothing is missed; `İ` is `i` for Java. A lone
 * surrogate reads as U+FFFD in most languages.
 */
export function foldCase(text: string): string {
  return text.toWellFormed().toLowerCase().toUpperCase().replaceAll(DOTTED_I, 'I');
}

const DOTTED_I = 'I\u0307'; // the upper case of the lower case of U+0130

/** Whether two names that are both so fold alike only when they are equal: most names are, and need no folding. */
export function isFolded(text: string): boolean {
  return FOLDED.test(text);
}

const FOLDED = /^[a-z0-9_.-]*$/;
