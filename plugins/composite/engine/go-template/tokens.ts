/** Kinds of tokens. `char` is any other single character, e.g. a comma. */
export type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'space'
  | 'identifier'
  | 'keyword'
  | 'field'
  | 'variable'
  | 'dot'
  | 'bool'
  | 'nil'
  | 'number'
  | 'rune'
  | 'string'
  | 'raw'
  | 'pipe'
  | 'assign'
  | 'declare'
  | 'left'
  | 'right'
  | 'char'
  | 'end-of-template';

/** A token; `at` is its offset in the text. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly at: number;
}

/** Keywords of actions. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
]);
