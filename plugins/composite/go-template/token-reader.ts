import { MAX_NESTING } from './limits.ts';
import { TemplateError } from './template-error.ts';
import type { Token } from './tokens.ts';
import type { Node } from './tree.ts';

/** What the parser holds while it reads one text. */
export interface TokenReader {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Names that may be called. */
  readonly functions: ReadonlySet<string>;
  readonly templates: Map<string, readonly Node[]>;
  next: number;
  /** Variables in scope, innermost last. */
  variables: string[];
  /** Loops around the place, which `break` and `continue` need. */
  loops: number;
  nesting: number;
}

const END: Token = { kind: 'end-of-template', text: '', at: 0 };

/** The next token, left where it is. */
export function peek(reader: TokenReader): Token {
  return reader.tokens[Math.min(reader.next, reader.tokens.length - 1)] ?? END;
}

/** The next token, taken. */
export function take(reader: TokenReader): Token {
  const token = peek(reader);
  reader.next += 1;
  return token;
}

/** The next token that is no space, left where it is; the spaces are gone. */
export function peekPastSpaces(reader: TokenReader): Token {
  while (peek(reader).kind === 'space') reader.next += 1;
  return peek(reader);
}

/** The next token that is no space, taken. */
export function takePastSpaces(reader: TokenReader): Token {
  peekPastSpaces(reader);
  return take(reader);
}

/** Takes the end of an action. @throws TemplateError when something else stands there */
export function expectClose(reader: TokenReader, context: string): void {
  const token = takePastSpaces(reader);
  if (token.kind !== 'close') throw unexpected(reader, token, context, '}}');
}

/** Whether the next token is this keyword. */
export function isKeyword(token: Token, word: string): boolean {
  return token.kind === 'keyword' && token.text === word;
}

/** Reads what lies one level deeper. @throws TemplateError past `MAX_NESTING` levels */
export function deeper<T>(reader: TokenReader, read: () => T): T {
  reader.nesting += 1;
  if (reader.nesting > MAX_NESTING) {
    throw new TemplateError('limit', reader.text, peek(reader).at, `more than ${MAX_NESTING} levels of nesting`);
  }
  const found = read();
  reader.nesting -= 1;
  return found;
}

/** An error of syntax at a token. */
export function wrong(reader: TokenReader, at: number, what: string): TemplateError {
  return new TemplateError('syntax', reader.text, at, what);
}

/** An error that names a token out of place, and what was expected instead. */
export function unexpected(reader: TokenReader, token: Token, context: string, expected: string): TemplateError {
  const name = token.kind === 'end-of-template' ? 'end of template' : quoted(token);
  return wrong(reader, token.at, `unexpected ${name} in ${context}, expected ${expected}`);
}

const MAX_QUOTED = 20;

function quoted({ kind, text }: Token): string {
  if (kind === 'keyword') return `<${text}>`;
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text);
}
