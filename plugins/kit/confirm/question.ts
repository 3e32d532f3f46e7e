import { type Call, isObject, type RawJson } from '@toolmgr/core';

/** Characters of a question that a person can be expected to read. */
export const MAX_QUESTION = 4_000;
/** Arguments of more bytes are not decoded for a question: none with all of them would be short enough. Escapes take 6 bytes a character. */
const MAX_RAW_BYTES = 8 * MAX_QUESTION;

/**
 * The question whether `what` may be done with these arguments. Every argument is whole, because what is cut off would be what the person
 * does not see; `undefined` when that is longer than {@link MAX_QUESTION}, or when a number has more digits than can be shown.
 */
export function questionAbout(
  what: string,
  call: Pick<Call, 'arguments' | 'members'>,
  pairs?: Iterable<readonly [string, unknown]>,
): string | undefined {
  const raw = call.members.get('arguments');
  if (raw !== undefined && (raw.length > MAX_RAW_BYTES || hasInexactNumber(raw))) return undefined;
  const given = Array.from(
    pairs ?? Object.entries(call.arguments),
    ([name, value]) => `${nameText(name)} ${visible(JSON.stringify(value))}`,
  );
  const question = `${visible(what)}: ${given.length === 0 ? 'without arguments' : given.join(', ')}?`;
  return question.length > MAX_QUESTION ? undefined : question;
}

/** The tool of a call as a question names it. */
export function toolOf({ target: { original, backend } }: Call): string {
  return `${nameText(original)} of ${nameText(backend)}`;
}

/** Names come from callers and servers: one with spaces could be read as words of the question. */
function nameText(name: string): string {
  return PLAIN.test(name) ? name : visible(JSON.stringify(name));
}

const PLAIN = /^[\w./-]+$/;

/** The backend gets the bytes of the client: a number that is not the same after reading it would be shown wrongly. */
function hasInexactNumber(raw: RawJson): boolean {
  let isInexact = false;
  JSON.parse(raw.toString(), (_key, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value === 'number') isInexact ||= !isExact(value, context?.source ?? '');
    return isObject(value as never) || Array.isArray(value) ? null : value; // nothing is kept
  });
  return isInexact;
}

/** Numbers of 15 significant digits are the same after reading them (IEEE 754 double). */
function isExact(value: number, source: string): boolean {
  const [mantissa = ''] = source.toLowerCase().split('e');
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '');
  return Number.isFinite(value) && digits.length <= 15 && (value !== 0 || digits === '');
}

/** Line breaks, spaces other than the usual one, and characters that show nothing or turn the order of others; long runs of spaces. */
function visible(text: string): string {
  return text
    .replace(HIDDEN, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`)
    .replace(/ {9,}/g, ({ length }) => ` (${length} spaces) `);
}

const HIDDEN = /(?! )[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;
