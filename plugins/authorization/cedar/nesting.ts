// The parser of Cedar is recursive, in WebAssembly: a text that is nested too deeply overflows its stack, and every later
// parse in the process fails. Bounds are half of what the parser can take.
const MAX_DEPTH = 48;
const MAX_IFS = 48;
const MAX_OPERATORS = 1_000;
const MAX_MEMBERS = 2_000;

/**
 * Why the parser must not read a text, policies or JSON; `undefined` when it may. Strings and comments do not count. The counts
 * begin again at each `;`, because policies are parsed one by one.
 */
export function nestingProblem(text: string): string | undefined {
  let depth = 0;
  let ifs = 0;
  let operators = 0;
  let members = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[0];
    if (OPENING.has(token)) depth++;
    else if (CLOSING.has(token)) depth--;
    else if (token === 'if') ifs++;
    else if (token === '.') members++;
    else if (OPERATORS.has(token)) operators++;
    else if (token === ';') [ifs, operators, members] = [0, 0, 0];
    if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} deep`;
    if (ifs > MAX_IFS) return `has more than ${MAX_IFS} times "if" in one policy`;
    if (operators > MAX_OPERATORS) return `has more than ${MAX_OPERATORS} operators in one policy`;
    if (members > MAX_MEMBERS) return `reads more than ${MAX_MEMBERS} members in one policy`;
  }
  return undefined;
}

/** Comments, strings, words and punctuation. An unfinished string goes to the end. */
const TOKEN = /\/\/[^\n]*|"(?:[^"\\]+|\\[\s\S])*(?:"|$)|\w+|&&|\|\||[[\](){}.;+*-]/g;
const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);
const OPERATORS: ReadonlySet<string> = new Set(['&&', '||', '+', '-', '*']);
