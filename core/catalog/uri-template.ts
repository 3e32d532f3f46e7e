import type { Part } from './uri-template-parts.ts';

/** Whether a URI is an expansion of the template. */
export type UriMatcher = (uri: string) => boolean;

/**
 * Compiles an RFC 6570 template for matching.
 *
 * Time: linear in the URI for each part of the template, for every URI: instead of trying one split after another, each
 * part maps the set of positions where it may start to the set where it may end.
 * As lenient as servers: a value may contain any character except the delimiters of its kind of expression, encoded or
 * not. `{x}` and `{+x}` need at least one character; expressions with a prefix character (`/x`, `?x`, `#x` …) may be
 * absent. Query parameters may come in any order.
 * Source: RFC 6570 §3.2 (levels 1-3 and explode; a prefix length `:n` is not checked).
 */
export function uriMatcher(parts: readonly Part[]): UriMatcher {
  const [first] = parts;
  const prefix = first?.kind === 'literal' ? first.text : '';
  const steps = parts.map(stepFrom);
  return (uri) => {
    if (!uri.startsWith(prefix) || uri.length > MAX_MATCHED_URI) return false;
    let reached: Positions = new Uint8Array(uri.length + 1);
    reached[0] = 1;
    for (const step of steps) {
      reached = step(uri, reached);
      if (!reached.includes(1)) return false;
    }
    return reached[uri.length] === 1;
  };
}

/** Longer URIs are found only by their exact text. */
export const MAX_MATCHED_URI = 8192;

/** 1 at every index of the URI that can be reached, including its end. */
type Positions = Uint8Array;
type Step = (uri: string, from: Positions) => Positions;

function stepFrom(part: Part): Step {
  if (part.kind === 'literal') return literalStep(part.text);
  if (part.kind === 'run') return runStep(tableOf(part.without));
  if (part.kind === 'optional') return optionalStep(part.first, tableOf(part.without));
  return pairsStep(part.first, part.separator, part.names, tableOf(part.without));
}

/** Knuth-Morris-Pratt: the ends of all occurrences of the text that start at a reached position. */
function literalStep(text: string): Step {
  const borders = bordersOf(text);
  return (uri, from) => {
    const to = new Uint8Array(uri.length + 1);
    let matched = 0;
    for (let at = 0; at < uri.length; at++) {
      while (matched > 0 && uri[at] !== text[matched]) matched = borders[matched - 1] ?? 0;
      if (uri[at] === text[matched]) matched++;
      if (matched < text.length) continue;
      to[at + 1] = from[at + 1 - text.length] ?? 0;
      matched = borders[matched - 1] ?? 0;
    }
    return to;
  };
}

/** For each prefix of the text, the length of its longest proper prefix that is also a suffix. */
function bordersOf(text: string): Uint16Array {
  const borders = new Uint16Array(text.length);
  let matched = 0;
  for (let at = 1; at < text.length; at++) {
    while (matched > 0 && text[at] !== text[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched++;
    borders[at] = matched;
  }
  return borders;
}

/** One or more characters that the table allows. */
function runStep(delimits: Uint8Array): Step {
  return (uri, from) => {
    const to = new Uint8Array(uri.length + 1);
    let isOpen = false;
    for (let at = 0; at < uri.length; at++) {
      isOpen = (isOpen || from[at] === 1) && delimits[uri.charCodeAt(at)] !== 1;
      if (isOpen) to[at + 1] = 1;
    }
    return to;
  };
}

/** Empty, or `first` and any number of allowed characters. */
function optionalStep(first: string, delimits: Uint8Array): Step {
  return (uri, from) => {
    const to = Uint8Array.from(from);
    let isOpen = false;
    for (let at = 0; at < uri.length; at++) {
      const begins = from[at] === 1 && uri[at] === first;
      isOpen = begins || (isOpen && delimits[uri.charCodeAt(at)] !== 1);
      if (isOpen) to[at + 1] = 1;
    }
    return to;
  };
}

/** Empty, or `first` and `name` or `name=value` pairs in any order; `names` undefined allows any name. One pass. */
function pairsStep(first: string, separator: string, names: readonly string[] | undefined, delimits: Uint8Array): Step {
  return (uri, from) => {
    const to = Uint8Array.from(from);
    const begins = new Uint8Array(uri.length + 1); // a pair may begin here
    const ends = new Uint8Array(uri.length + 1); // a name without a value ends here
    const values = new Uint8Array(uri.length + 1); // a value begins here
    let isOpen = false;
    for (let at = 0; at <= uri.length; at++) {
      if (begins[at] === 1) readName(uri, at, names, ends, values);
      isOpen ||= values[at] === 1;
      if (isOpen || ends[at] === 1) to[at] = 1;
      const startsPairs = uri[at] === first && from[at] === 1;
      const startsNext = uri[at] === separator && (isOpen || ends[at] === 1);
      if (startsPairs || startsNext) begins[at + 1] = 1;
      isOpen &&= delimits[uri.charCodeAt(at)] !== 1;
    }
    return to;
  };
}

/** Marks where the value of a known name starts, or where the name ends when it has no value. */
function readName(
  uri: string,
  at: number,
  names: readonly string[] | undefined,
  ends: Positions,
  values: Positions,
): void {
  if (names === undefined) {
    values[at] = 1; // any name matches like a value
    return;
  }
  const name = names.find((known) => uri.startsWith(known, at) && isNameEnd(uri[at + known.length]));
  if (name === undefined) return;
  const end = at + name.length;
  if (uri[end] === '=') values[end + 1] = 1;
  else ends[end] = 1;
}

function isNameEnd(character: string | undefined): boolean {
  return character === undefined || '=&;/?#'.includes(character);
}

/** 1 for each of the characters, by UTF-16 code. */
function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(128); // no delimiter is beyond ASCII: an index past the end reads as undefined
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}
