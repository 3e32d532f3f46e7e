import type { JsonValue } from '@toolmgr/core';

/**
 * Parses the beginning of a JSON text: an incomplete last value is omitted, and open brackets are closed.
 *
 * Shape: an incomplete string is cut at its last white space, because half a word could be half a secret.
 * Fails as `undefined` when the text is not the beginning of JSON.
 */
export function parsePartialJson(text: string): JsonValue | undefined {
  const { safe, closers } = completePart(text);
  try {
    return JSON.parse(safe + closers) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The longest part that needs only closing brackets, and these brackets. */
function completePart(text: string): { readonly safe: string; readonly closers: string } {
  const open: string[] = [];
  let isKey = false; // the next string is the name of a member
  let end = 0; // of the complete part
  const settle = (at: number): void => {
    end = at;
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string;
    if (char === '"') {
      const close = stringEnd(text, at);
      if (close === -1) {
        return isKey ? { safe: text.slice(0, end), closers: closing(open) } : cutString(text, at, open);
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
      // a number or literal at the end may be incomplete, unless it is the whole text
      if (at < text.length || (open.length === 0 && start === 0)) settle(at);
    } else at++;
  }
  return { safe: text.slice(0, end), closers: closing(open) };
}

function closing(open: readonly string[]): string {
  return [...open].reverse().join('');
}

/** Index of the closing quote; -1 for an incomplete string. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}

/** The incomplete string up to its last white space, plain or escaped. */
function cutString(text: string, start: number, open: readonly string[]): { safe: string; closers: string } {
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
