/** Characters of a question that a person can be expected to read. */
export const MAX_QUESTION = 4_000;

/**
 * The question whether `what` may be done with these arguments. Every argument is whole, because what is cut off would be what the person
 * does not see; `undefined` when that is longer than {@link MAX_QUESTION}.
 */
export function questionAbout(what: string, given: Iterable<readonly [string, unknown]>): string | undefined {
  const pairs = Array.from(given, ([name, value]) => visible(`${name} ${JSON.stringify(value)}`));
  const question = `${visible(what)}: ${pairs.length === 0 ? 'without arguments' : pairs.join(', ')}?`;
  return question.length > MAX_QUESTION ? undefined : question;
}

/** Line breaks, and characters that show nothing or turn the order of others. */
function visible(text: string): string {
  return text.replace(HIDDEN, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
