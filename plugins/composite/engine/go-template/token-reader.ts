import { MAX_NESTING } from './limits.ts';
import { TemplateError } from './template-error.ts';
import type { Token } from './tokens.ts';
import type { Node } from './tree.ts';

/** The state of the parser for one text. */
export interface TokenReader {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Names that may be called. */
  readonly functions: ReadonlySet<string>;
  readonly templates: Map<string, readonly Node[]>;
  next: number;
  /** Variables in scope, innermost last. */
  variables: string[];
  /** Number of enclosing loops; `break` and `continue` need one. */
  loops: number;
  nesting: number;
}

const END: Token = { kind: 'end-of-template', text: '', at: 0 };

/** Returns the next token without consuming it. */
export function peek(reader: TokenReader): Token {
  return reader.tokens[Math.min(reader.next, reader.tokens.length - 1)] ?? END;
}

/** Consumes the next token. */
export function take(reader: TokenReader): Token {
  const token = peek(reader);
  reader.next += 1;
  return token;
}

/** Consumes spaces and returns the next token without consuming it. */
export function peekPastSpaces(reader: TokenReader): Token {
  while (peek(reader).kind === 'space') reader.next += 1;
  return peek(reader);
}

/** Consumes spaces and the next token. */
export function takePastSpaces(reader: TokenReader): Token {
  peekPastSpaces(reader);
  return take(reader);
}

/** Consumes the end of an action. @throws TemplateError for any other token */
export function expectClose(reader: TokenReader, context: string): void {
  const token = takePastSpaces(reader);
  if (token.kind !== 'close') throw unexpected(reader, token, context, '}}');
}

/** Whether the next token is this keyword. */
export function isKeyword(token: Token, word: string): boolean {
  return token.kind === 'keyword' && token.text === word;
}

/** Runs `read` one nesting level deeper. @throws TemplateError past `MAX_NESTING` levels */
export function deeper<T>(reader: TokenReader, read: () => T): T {
  reader.nesting += 1;
  if (reader.nesting > MAX_NESTING) {
    throw new TemplateError('limit', reader.text, peek(reader).at, `more than ${MAX_NESTING} levels of nesting`);
  }
  const found = read();
  reader.nesting -= 1;
  return found;
}

/** A syntax error at an offset. */
export function wrong(reader: TokenReader, at: number, what: string): TemplateError {
  return new TemplateError('syntax', reader.text, at, what);
}

/** A syntax error for an unexpected token. */
export function unexpected(reader: TokenReader, token: Token, context: string, expected: string): TemplateError {
  const name = token.kind === 'end-of-template' ? 'end of template' : quoted(token);
  return wrong(reader, token.at, `unexpected ${name} in ${context}, expected ${expected}`);
}

const MAX_QUOTED = 20;

function quoted({ kind, text }: Token): string {
  if (kind === 'keyword') return `<${text}>`;
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text);
}
