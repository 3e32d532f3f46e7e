import type { JsonValue } from '@toolmgr/core';

/**
 * The value that a piece of JSON begins with: what is torn at the end is left out, and everything open is closed.
 *
 * Shape: a string that is torn ends at its last white space: half a word could be half a secret.
 * Fails as `undefined` when the text is not the beginning of JSON.
 */
export function valueFromBeginning(text: string): JsonValue | undefined {
  const { safe, closers } = lastSafe(text);
  try {
    return JSON.parse(safe + closers) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The longest beginning after which only closing is missing, and what closes it. */
function lastSafe(text: string): { readonly safe: string; readonly closers: string } {
  const open: string[] = [];
  let isKey = false; // the next string is the name of a member
  let end = 0; // of the safe beginning; what is open there is open until the next one
  const settle = (at: number): void => {
    end = at;
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string;
    if (char === '"') {
      const close = stringEnd(text, at);
      if (close === -1) {
        return isKey ? { safe: text.slice(0, end), closers: closing(open) } : tornString(text, at, open);
      }
      at = close + 1;
      if (!isKey) settle(at);
      continue;
    }
    if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']');
      isKey = char === '{';
      settle(++at);
    } else if (char === '}' || char === ']') {
      open.pop();
      isKey = false;
      settle(++at);
    } else if (char === ',' || char === ':') {
      isKey = char === ',' && open.at(-1) === '}';
      at++;
    } else if (WORD.test(char)) {
      const start = at;
      while (at < text.length && WORD.test(text[at] as string)) at++;
      // a number or literal that ends with the text may go on; alone it is the whole value
      if (at < text.length || (open.length === 0 && start === 0)) settle(at);
    } else at++;
  }
  return { safe: text.slice(0, end), closers: closing(open) };
}

function closing(open: readonly string[]): string {
  return [...open].reverse().join('');
}

/** Index of the closing quote; -1 when the string is torn. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

/** The torn string up to its last white space, written out or escaped. */
function tornString(text: string, start: number, open: readonly string[]): { safe: string; closers: string } {
  let kept = start + 1;
  for (let at = start + 1; at < text.length; ) {
    const isEscape = text[at] === '\\';
    const escaped = isEscape ? text[at + 1] : undefined;
    const next = at + (escaped === 'u' ? 6 : isEscape ? 2 : 1);
    if (next > text.length) break;
    if (text[at] === ' ' || escaped === 'n' || escaped === 'r' || escaped === 't') kept = next;
    at = next;
  }
  return { safe: text.slice(0, kept), closers: `"${closing(open)}` };
}

const WORD = /[-+.\w]/;
