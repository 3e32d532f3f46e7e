/** One token of TypeScript text. Comments and regular expressions are removed; a string token has the string's content. */
export interface Token {
  readonly kind: 'word' | 'string' | 'mark';
  readonly text: string;
}

/** One import: the specifier and whether it imports only types. */
export interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
  /** It is a call, `import('…')`. */
  readonly isCall?: true;
}

/**
 * Splits TypeScript text into words, strings and single punctuation marks.
 *
 * Shape: a template without `${}` is one string; with `${}` only the code inside remains.
 * A slash begins a regular expression if no value can end before it.
 */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const braces: ('code' | 'template')[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const template = (): void => {
    const text = take(TEMPLATE_TEXT) ?? '';
    if (source[at] === '`') {
      at += 1;
      tokens.push({ kind: 'string', text });
      return;
    }
    at += 2;
    braces.push('template');
  };
  while (at < source.length) {
    if (take(BLANK) !== undefined) continue;
    const quoted = take(QUOTED);
    if (quoted !== undefined) {
      tokens.push({ kind: 'string', text: quoted.slice(1, -1) });
      continue;
    }
    if (startsRegExp(tokens.at(-1)) && take(REG_EXP) !== undefined) continue;
    const word = take(WORD);
    if (word !== undefined) {
      tokens.push({ kind: 'word', text: word });
      continue;
    }
    const mark = source[at] ?? '';
    at += 1;
    if (mark === '`') template();
    else if (mark === '}' && braces.pop() === 'template') template();
    else {
      if (mark === '{') braces.push('code');
      tokens.push({ kind: 'mark', text: mark });
    }
  }
  return tokens;
}

const BLANK = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const QUOTED = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const REG_EXP = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const WORD = /[\w$#]+/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const BEFORE_REG_EXP = new Set(['return', 'typeof', 'case', 'in', 'of', 'await', 'yield', 'void', 'delete', 'throw']);

function startsRegExp(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'string') return false;
  return before.kind === 'word' ? BEFORE_REG_EXP.has(before.text) : !')]}'.includes(before.text);
}

/** Lists what a file imports: static, re-exported, dynamic and inside types; a computed specifier is left out. */
export function importsOf(tokens: readonly Token[]): readonly Import[] {
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'word' || tokens[index - 1]?.text === '.') return [];
    if (token.text === 'import') return importAt(tokens, index);
    return token.text === 'export' ? exportAt(tokens, index) : [];
  });
}

function importAt(tokens: readonly Token[], index: number): readonly Import[] {
  const next = tokens[index + 1];
  if (next?.text === '.' && next.kind === 'mark') return [];
  if (next?.text === '(' && next.kind === 'mark') {
    return specifier(tokens[index + 2], false).map((each) => ({ ...each, isCall: true }));
  }
  if (next?.kind === 'string') return specifier(next, false);
  return fromClause(tokens, index + 1, isTypeOnly(tokens, index));
}

function exportAt(tokens: readonly Token[], index: number): readonly Import[] {
  const typeOnly = isTypeOnly(tokens, index);
  const first = index + (typeOnly ? 2 : 1);
  const opener = tokens[first]?.text;
  return opener === '*' || opener === '{' ? fromClause(tokens, first, typeOnly) : [];
}

function isTypeOnly(tokens: readonly Token[], index: number): boolean {
  const [next, after] = [tokens[index + 1], tokens[index + 2]];
  return next?.text === 'type' && after?.text !== 'from' && after?.text !== ',';
}

function fromClause(tokens: readonly Token[], start: number, typeOnly: boolean): readonly Import[] {
  const clause = /^[\w$,{}*]+$/;
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || token.kind === 'string' || !clause.test(token.text)) return [];
    if (token.text === 'from' && tokens[at + 1]?.kind === 'string') return specifier(tokens[at + 1], typeOnly);
  }
  return [];
}

function specifier(token: Token | undefined, typeOnly: boolean): readonly Import[] {
  return token?.kind === 'string' ? [{ from: token.text, typeOnly }] : [];
}
