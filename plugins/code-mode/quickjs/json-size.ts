/** Nesting depth of a JSON text (0 for a scalar), and the number of members of all its objects. */
export interface JsonSize {
  readonly depth: number;
  readonly members: number;
}

/**
 * Measures a JSON text in one pass. Counting stops as soon as either number is above its maximum.
 * The text must be valid JSON; only its brackets and colons are read.
 */
export function jsonSize(json: string, max: JsonSize): JsonSize {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  for (let at = 0; at < json.length && deepest <= max.depth && members <= max.members; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(json, at);
    else if (code === COLON) members++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return { depth: deepest, members };
}

function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
