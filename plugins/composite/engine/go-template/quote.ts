/** Whether Go prints a character unescaped: letters, marks, numbers, punctuation, symbols and the plain space. */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

/** A text in quotes, escaped as a Go string. `asciiOnly` also escapes all non-ASCII characters. Source: Go strconv.Quote. */
export function quoted(text: string, quote: '"' | "'" = '"', asciiOnly = false): string {
  const pieces: string[] = [];
  for (const character of text.toWellFormed()) pieces.push(escapedCharacter(character, quote, asciiOnly));
  return `${quote}${pieces.join('')}${quote}`;
}

function escapedCharacter(character: string, quote: string, asciiOnly: boolean): string {
  if (character === quote) return `\\${quote}`;
  const short = SHORT[character];
  if (short !== undefined) return short;
  const point = character.codePointAt(0) ?? 0;
  if (isPrintable(character) && (!asciiOnly || point < 0x80)) return character;
  if (point < 0x20 || point === 0x7f) return `\\x${hex(point, 2)}`;
  return point > 0xffff ? `\\U${hex(point, 8)}` : `\\u${hex(point, 4)}`;
}

function hex(point: number, digits: number): string {
  return point.toString(16).padStart(digits, '0');
}
