/**
 * Text of a backend, as a person must see it: characters that are not seen, reorder text or look like a space are shown by their number, and long
 * runs of spaces or line breaks by their length, so that nothing can be outside the window.
 */
export function visibleText(text: string): string {
  return text
    .replace(UNSEEN, (each) => `<U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`)
    .replace(/ {25,}/g, ({ length }) => ` <${length} spaces> `)
    .replace(/\n(?:[ ]*\n){5,}/g, (run) => `\n<${run.split('\n').length - 1} lines>\n`);
}

/** As {@link visibleText}, for a name: a line break in it must not look like a line of ours. */
export function visibleLine(text: string): string {
  return visibleText(text.replaceAll('\n', '\u2028')).replaceAll('<U+2028>', '<U+000A>');
}

/** Control and format characters, spaces other than the usual one, blank letters, tags and variation selectors; not line breaks. */
const UNSEEN =
  /(?![\n ])[\p{Cc}\p{Cf}\p{Z}\p{Co}\p{Cn}]|[\u{115F}\u{1160}\u{2800}\u{3164}\u{FFA0}]|[\u{FE00}-\u{FE0E}]|[\u{E0100}-\u{E01EF}]/gu;
