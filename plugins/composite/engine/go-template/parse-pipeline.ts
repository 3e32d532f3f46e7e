import { type ReadLiteral, readNumber, readQuoted, readRaw, readRune } from './literals.ts';
import { deeper, peek, peekPastSpaces, type TokenReader, take, unexpected, wrong } from './token-reader.ts';
import type { Token, TokenKind } from './tokens.ts';
import type { Command, Operand, Pipeline } from './tree.ts';

/** Parses a pipeline and the end of its action. `context` is the enclosing construct, for errors and for `range`. */
export function parsePipeline(reader: TokenReader, context: string): Pipeline {
  return pipelineUpTo(reader, context, 'close');
}

const MAX_VARIABLES = 2; // of `range $index, $element := …`

function pipelineUpTo(reader: TokenReader, context: string, end: TokenKind): Pipeline {
  const { at } = peekPastSpaces(reader);
  const declared = parseVariables(reader, context);
  const commands: Command[] = [];
  while (true) {
    const token = peekPastSpaces(reader);
    if (token.kind === end) break;
    if (!STARTS.has(token.kind))
      throw unexpected(reader, token, context, end === 'close' ? 'a value or }}' : 'a value or )');
    commands.push(parseCommand(reader));
  }
  take(reader);
  if (commands.length === 0) throw wrong(reader, at, `missing value for ${context}, expected a pipeline`);
  for (const [stage, command] of commands.entries()) {
    if (stage > 0 && isInert(command.operands[0])) {
      const what = `non executable command in pipeline stage ${stage + 1}, expected a function`;
      throw wrong(reader, command.at, what);
    }
  }
  return { ...declared, commands, at };
}

const STARTS: ReadonlySet<TokenKind> = new Set([
  'bool',
  'rune',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw',
  'string',
  'variable',
  'left',
]);

function isInert({ kind }: Operand): boolean {
  return kind === 'literal' || kind === 'nil' || kind === 'dot';
}

type Variables = Pick<Pipeline, 'variables' | 'isAssignment'>;

function parseVariables(reader: TokenReader, context: string): Variables {
  const variables: string[] = [];
  while (peekPastSpaces(reader).kind === 'variable') {
    const start = reader.next;
    const { text: name } = take(reader);
    const after = peekPastSpaces(reader);
    if (after.kind === 'assign' || after.kind === 'declare') {
      take(reader);
      declare(reader, variables, name);
      return { variables, isAssignment: after.kind === 'assign' };
    }
    if (after.kind !== 'char' || after.text !== ',') {
      reader.next = start; // it is an argument, not a declaration
      break;
    }
    take(reader);
    declare(reader, variables, name);
    if (context !== 'range' || variables.length >= MAX_VARIABLES) {
      throw wrong(reader, after.at, `too many declarations in ${context}`);
    }
    if (!AFTER_COMMA.has(peekPastSpaces(reader).kind)) {
      throw wrong(reader, after.at, 'range can only initialize variables');
    }
  }
  return { variables, isAssignment: false };
}

const AFTER_COMMA: ReadonlySet<TokenKind> = new Set(['variable', 'close', 'right']);

function declare(reader: TokenReader, variables: string[], name: string): void {
  variables.push(name);
  reader.variables.push(name);
}

function parseCommand(reader: TokenReader): Command {
  const { at } = peekPastSpaces(reader);
  const operands: Operand[] = [];
  while (true) {
    peekPastSpaces(reader);
    const operand = parseOperand(reader);
    if (operand !== undefined) operands.push(operand);
    const token = peek(reader);
    if (token.kind === 'space') continue;
    if (token.kind === 'pipe') take(reader);
    else if (token.kind !== 'close' && token.kind !== 'right') {
      throw unexpected(reader, token, 'operand', 'a space, | or the end of the action');
    }
    break;
  }
  const [first, ...others] = operands;
  if (first === undefined) throw wrong(reader, at, 'empty command, expected a value or a function');
  return { operands: [first, ...others], at };
}

function parseOperand(reader: TokenReader): Operand | undefined {
  const term = TERMS[peekPastSpaces(reader).kind]?.(reader, take(reader));
  if (term === undefined || peek(reader).kind !== 'field') return term;
  const { at } = peek(reader);
  const fields: string[] = [];
  while (peek(reader).kind === 'field') fields.push(take(reader).text.slice(1));
  if (!('fields' in term)) throw wrong(reader, at, 'unexpected . after a term that has no fields');
  return { ...term, fields: [...term.fields, ...fields] };
}

const TERMS: Readonly<Partial<Record<TokenKind, (reader: TokenReader, token: Token) => Operand>>> = {
  identifier: parseFunction,
  dot: (_, { at }) => ({ kind: 'dot', at }),
  nil: (_, { at }) => ({ kind: 'nil', at }),
  variable: parseVariable,
  field: (_, { text, at }) => ({ kind: 'field', fields: [text.slice(1)], at }),
  left: parseParentheses,
  bool: (_, { text, at }) => ({ kind: 'literal', literal: { type: 'bool', value: text === 'true' }, at }),
  raw: (_, { text, at }) => ({ kind: 'literal', literal: { type: 'string', value: readRaw(text) }, at }),
  string: parseString,
  rune: parseRune,
  number: parseNumber,
};

function parseFunction(reader: TokenReader, { text, at }: Token): Operand {
  if (!reader.functions.has(text)) {
    throw wrong(
      reader,
      at,
      `function "${text}" not defined, expected one of ${[...reader.functions].sort().join(', ')}`,
    );
  }
  return { kind: 'call', name: text, fields: [], at };
}

function parseVariable(reader: TokenReader, { text, at }: Token): Operand {
  if (!reader.variables.includes(text)) throw wrong(reader, at, `undefined variable "${text}"`);
  return { kind: 'variable', name: text, fields: [], at };
}

function parseParentheses(reader: TokenReader, { at }: Token): Operand {
  const pipeline = deeper(reader, () => pipelineUpTo(reader, 'parenthesized pipeline', 'right'));
  return { kind: 'pipeline', pipeline, fields: [], at };
}

function parseString(reader: TokenReader, { text, at }: Token): Operand {
  const value = readQuoted(text);
  if (value === undefined) throw wrong(reader, at, 'invalid syntax in a quoted string, expected the escapes of Go');
  return { kind: 'literal', literal: { type: 'string', value }, at };
}

function parseRune(reader: TokenReader, { text, at }: Token): Operand {
  const value = readRune(text);
  if (value === undefined) throw wrong(reader, at, 'malformed character constant, expected one character');
  return { kind: 'literal', literal: { type: 'int', value }, at };
}

function parseNumber(reader: TokenReader, { text, at }: Token): Operand {
  const literal: ReadLiteral = readNumber(text);
  if (literal.type === 'wrong') throw wrong(reader, at, literal.why);
  return { kind: 'literal', literal, at };
}
