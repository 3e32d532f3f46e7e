import { TemplateError } from './template-error.ts';
import { KEYWORDS, type Token, type TokenKind } from './tokens.ts';

/**
 * Splits a template into tokens; applies trim markers and removes comments.
 *
 * Shape: the last token is `end-of-template`. Text between actions is one token, never empty.
 * Fails: TemplateError `syntax` for an invalid token, e.g. an action that is not closed.
 * Source: Go text/template, "Text and spaces" and "Actions".
 */
export function lex(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let trimStart = false;
  while (at < text.length) {
    const open = text.indexOf('{{', at);
    const end = open < 0 ? text.length : open;
    const action = open < 0 ? undefined : readOpening(text, open);
    const from = trimStart ? skipSpaces(text, at, end) : at;
    const to = action?.trims ? trimEnd(text, from, end) : end;
    if (to > from) tokens.push({ kind: 'text', text: text.slice(from, to), at: from });
    if (action === undefined) break;
    const closed = action.isComment ? skipComment(text, action.after) : lexAction(text, open, action.after, tokens);
    at = closed.after;
    trimStart = closed.trims;
  }
  tokens.push({ kind: 'end-of-template', text: '', at: text.length });
  return tokens;
}

interface Delimiter {
  readonly after: number;
  readonly trims: boolean;
}

function readOpening(text: string, open: number): Delimiter & { readonly isComment: boolean } {
  const trims = text[open + 2] === '-' && isSpace(text[open + 3]);
  const after = open + (trims ? 4 : 2);
  return { after, trims, isComment: text.startsWith('/*', after) };
}

/** The closing delimiter at this offset, with its trim marker; `undefined` when there is none. */
function readClosing(text: string, at: number): Delimiter | undefined {
  if (text.startsWith('}}', at)) return { after: at + 2, trims: false };
  if (isSpace(text[at]) && text.startsWith('-}}', at + 1)) return { after: at + 4, trims: true };
  return undefined;
}

function skipComment(text: string, at: number): Delimiter {
  const end = text.indexOf('*/', at + 2);
  if (end < 0) throw new TemplateError('syntax', text, at, 'unclosed comment, expected */');
  const closed = readClosing(text, end + 2);
  if (closed === undefined) {
    throw new TemplateError('syntax', text, end, 'comment ends before closing delimiter, expected }} after */');
  }
  return closed;
}

function lexAction(text: string, open: number, from: number, tokens: Token[]): Delimiter {
  tokens.push({ kind: 'open', text: '{{', at: open });
  let parentheses = 0;
  let at = from;
  while (true) {
    const closed = readClosing(text, at);
    if (closed !== undefined) {
      if (parentheses > 0) throw new TemplateError('syntax', text, at, 'unclosed left paren, expected )');
      tokens.push({ kind: 'close', text: '}}', at });
      return closed;
    }
    if (at >= text.length) throw new TemplateError('syntax', text, open, 'unclosed action, expected }}');
    const token = readToken(text, at);
    if (token.kind === 'left') parentheses += 1;
    if (token.kind === 'right') parentheses -= 1;
    if (parentheses < 0) throw new TemplateError('syntax', text, at, 'unexpected right paren');
    tokens.push(token);
    at += token.text.length;
  }
}

const SINGLE: Readonly<Record<string, TokenKind>> = { '|': 'pipe', '=': 'assign', '(': 'left', ')': 'right' };
const SPACES = /[ \t\r\n]+/y;
const WORD = /[_\p{L}\p{Nd}]+/uy;
const QUOTED = /"(?:\\[^\n]|[^"\\\n])*"/y;
const RUNE = /'(?:\\[^\n]|[^'\\\n])*'/y;
const RAW = /`[^`]*`/y;
const DIGITS =
  /[+-]?(?:0[xX][\da-fA-F_]*\.?[\da-fA-F_]*(?:[pP][+-]?[\d_]*)?|0[oO][0-7_]*|0[bB][01_]*|[\d_]*\.?[\d_]*(?:[eE][+-]?[\d_]*)?)/y;

function readToken(text: string, at: number): Token {
  const first = text[at] ?? '';
  const single = SINGLE[first];
  if (single !== undefined) return { kind: single, text: first, at };
  if (isSpace(first)) return readSpace(text, at);
  if (first === ':') return readDeclare(text, at);
  if (first === '"') return readQuoted(text, at, QUOTED, 'string', 'unterminated quoted string');
  if (first === '`') return readQuoted(text, at, RAW, 'raw', 'unterminated raw quoted string');
  if (first === "'") return readQuoted(text, at, RUNE, 'rune', 'unterminated character constant');
  if (first === '$') return readName(text, at, 'variable', 'variable');
  if (first === '.' && !isDigit(text[at + 1])) return readName(text, at, 'field', 'dot');
  if (first === '.' || first === '+' || first === '-' || isDigit(first)) return readNumber(text, at);
  const word = match(WORD, text, at);
  if (word !== undefined) return readWord(text, at, word);
  if (first > ' ' && first < '\x7f') return { kind: 'char', text: first, at };
  const point = text.codePointAt(at) ?? 0;
  const code = point.toString(16).toUpperCase().padStart(4, '0');
  throw new TemplateError('syntax', text, at, `unrecognized character in action: U+${code}`);
}

function readSpace(text: string, at: number): Token {
  const run = match(SPACES, text, at) ?? ' ';
  // the last space may belong to ` -}}`
  const trims = text.startsWith('-}}', at + run.length);
  return { kind: 'space', text: trims && run.length > 1 ? run.slice(0, -1) : run, at };
}

function readDeclare(text: string, at: number): Token {
  if (text[at + 1] !== '=') throw new TemplateError('syntax', text, at, 'expected := after a variable');
  return { kind: 'declare', text: ':=', at };
}

function readQuoted(text: string, at: number, form: RegExp, kind: TokenKind, problem: string): Token {
  const found = match(form, text, at);
  if (found === undefined) throw new TemplateError('syntax', text, at, problem);
  return { kind, text: found, at };
}

/** A name after `.` or `$`; the character alone is the dot, or the variable `$`. */
function readName(text: string, at: number, kind: TokenKind, bare: TokenKind): Token {
  const name = match(WORD, text, at + 1) ?? '';
  expectTerminator(text, at + 1 + name.length);
  return { kind: name === '' ? bare : kind, text: `${text[at]}${name}`, at };
}

function readNumber(text: string, at: number): Token {
  const found = match(DIGITS, text, at) ?? '';
  const end = at + found.length;
  const next = text[end];
  if (next === 'i' || next === '+' || next === '-') {
    throw new TemplateError('syntax', text, at, 'complex numbers are not supported, expected an integer or a decimal');
  }
  if (found === '' || (next !== undefined && match(WORD, text, end) !== undefined)) {
    throw new TemplateError('syntax', text, at, `bad number syntax: "${found}${next ?? ''}"`);
  }
  return { kind: 'number', text: found, at };
}

function readWord(text: string, at: number, word: string): Token {
  expectTerminator(text, at + word.length);
  if (KEYWORDS.has(word)) return { kind: 'keyword', text: word, at };
  if (word === 'true' || word === 'false') return { kind: 'bool', text: word, at };
  return { kind: word === 'nil' ? 'nil' : 'identifier', text: word, at };
}

/** A name ends at a space, at one of `. , | : ( )`, or at the end of the action. */
function expectTerminator(text: string, at: number): void {
  const next = text[at];
  if (next === undefined || isSpace(next) || '.,|:()'.includes(next) || text.startsWith('}}', at)) return;
  throw new TemplateError('syntax', text, at, `bad character "${next}" after a name, expected a space or }}`);
}

function match(form: RegExp, text: string, at: number): string | undefined {
  form.lastIndex = at;
  return form.exec(text)?.[0];
}

function skipSpaces(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text[at])) at += 1;
  return at;
}

function trimEnd(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isSpace(text[at - 1])) at -= 1;
  return at;
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\r' || character === '\n';
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
