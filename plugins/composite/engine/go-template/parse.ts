import { lex } from './lex.ts';
import { readQuoted, readRaw } from './literals.ts';
import { parsePipeline } from './parse-pipeline.ts';
import {
  deeper,
  expectClose,
  isKeyword,
  peek,
  peekPastSpaces,
  type TokenReader,
  take,
  takePastSpaces,
  unexpected,
  wrong,
} from './token-reader.ts';
import type { Token } from './tokens.ts';
import type { Branch, Node, Templates } from './tree.ts';

/**
 * Parses a template and the templates that it defines.
 *
 * Shape: the map always has `''`, the text outside of definitions; `functions` are the names that may be called.
 * Fails: TemplateError `syntax` with what was expected, `limit` when the text nests too deep.
 */
export function parse(text: string, functions: ReadonlySet<string>): Templates {
  const reader: TokenReader = {
    text,
    tokens: lex(text),
    functions,
    templates: new Map(),
    next: 0,
    variables: ['$'],
    loops: 0,
    nesting: 0,
  };
  const nodes: Node[] = [];
  while (peek(reader).kind !== 'end-of-template') {
    if (takeDefinition(reader)) continue;
    const node = parseNode(reader);
    if ('ends' in node) throw wrong(reader, node.at, `unexpected {{${node.ends}}}, no block is open`);
    nodes.push(node);
  }
  addTemplate(reader, '', nodes, 0);
  return reader.templates;
}

function takeDefinition(reader: TokenReader): boolean {
  const start = reader.next;
  if (take(reader).kind === 'open' && isKeyword(takePastSpaces(reader), 'define')) {
    const at = peekPastSpaces(reader).at;
    const name = parseName(reader, 'define clause');
    expectClose(reader, 'define clause');
    parseTemplate(reader, name, at, 'define clause');
    return true;
  }
  reader.next = start;
  return false;
}

/** The body of a definition or block, which has no access to outer variables and loops. */
function parseTemplate(reader: TokenReader, name: string, at: number, context: string): void {
  const { variables, loops } = reader;
  reader.variables = ['$'];
  reader.loops = 0;
  const { nodes, end } = parseBody(reader);
  if (end.ends !== 'end') throw wrong(reader, end.at, `unexpected {{else}} in ${context}, expected {{end}}`);
  reader.variables = variables;
  reader.loops = loops;
  addTemplate(reader, name, nodes, at);
}

function addTemplate(reader: TokenReader, name: string, nodes: readonly Node[], at: number): void {
  const old = reader.templates.get(name);
  if (old !== undefined && !isEmpty(old)) {
    if (isEmpty(nodes)) return;
    throw wrong(reader, at, `multiple definition of template "${name}", expected one`);
  }
  reader.templates.set(name, nodes);
}

function isEmpty(nodes: readonly Node[]): boolean {
  return nodes.every((node) => node.kind === 'text' && node.text.trim() === '');
}

function parseName(reader: TokenReader, context: string): string {
  const token = takePastSpaces(reader);
  if (token.kind === 'raw') return readRaw(token.text);
  if (token.kind !== 'string') throw unexpected(reader, token, context, 'the name of a template in quotes');
  const name = readQuoted(token.text);
  if (name === undefined) throw wrong(reader, token.at, 'invalid escape in a quoted name');
  return name;
}

/** The end of a body; the reader is behind the word `else`, or behind the whole `{{end}}`. */
interface Ending {
  readonly ends: 'end' | 'else';
  readonly at: number;
}

function parseBody(reader: TokenReader): { readonly nodes: readonly Node[]; readonly end: Ending } {
  return deeper(reader, () => {
    const nodes: Node[] = [];
    while (peek(reader).kind !== 'end-of-template') {
      const node = parseNode(reader);
      if ('ends' in node) return { nodes, end: node };
      nodes.push(node);
    }
    throw wrong(reader, peek(reader).at, 'unexpected EOF, expected {{end}}');
  });
}

function parseNode(reader: TokenReader): Node | Ending {
  const token = take(reader);
  if (token.kind === 'text') return { kind: 'text', text: token.text, at: token.at };
  if (token.kind !== 'open') throw unexpected(reader, token, 'input', 'text or {{');
  const word = peekPastSpaces(reader);
  const control = word.kind === 'keyword' ? CONTROLS[word.text] : undefined;
  if (control === undefined) return { kind: 'action', pipeline: parsePipeline(reader, 'command'), at: word.at };
  take(reader);
  return control(reader, word);
}

const CONTROLS: Readonly<Record<string, (reader: TokenReader, word: Token) => Node | Ending>> = {
  if: (reader, word) => parseBranches(reader, word, 'if'),
  with: (reader, word) => parseBranches(reader, word, 'with'),
  range: parseRange,
  template: parseTemplateCall,
  block: parseBlock,
  break: (reader, word) => parseJump(reader, word, 'break'),
  continue: (reader, word) => parseJump(reader, word, 'continue'),
  end: (reader, { at }) => {
    expectClose(reader, 'end');
    return { ends: 'end', at };
  },
  else: (_reader, { at }) => ({ ends: 'else', at }),
};

function parseBranches(reader: TokenReader, { at }: Token, kind: 'if' | 'with'): Node {
  const scope = reader.variables.length;
  const branches: Branch[] = [];
  let otherwise: readonly Node[] = [];
  while (true) {
    const pipeline = parsePipeline(reader, kind);
    const { nodes, end } = parseBody(reader);
    branches.push({ pipeline, body: nodes });
    if (end.ends === 'end') break;
    if (isKeyword(peekPastSpaces(reader), kind)) {
      take(reader);
      continue;
    }
    otherwise = parseElse(reader);
    break;
  }
  reader.variables.length = scope;
  return { kind, branches, otherwise, at };
}

function parseElse(reader: TokenReader): readonly Node[] {
  expectClose(reader, 'else');
  const { nodes, end } = parseBody(reader);
  if (end.ends !== 'end') throw wrong(reader, end.at, 'expected end; found {{else}}');
  return nodes;
}

function parseRange(reader: TokenReader, { at }: Token): Node {
  const scope = reader.variables.length;
  const pipeline = parsePipeline(reader, 'range');
  reader.loops += 1;
  const { nodes, end } = parseBody(reader);
  reader.loops -= 1;
  const otherwise = end.ends === 'else' ? parseElse(reader) : [];
  reader.variables.length = scope;
  return { kind: 'range', pipeline, body: nodes, otherwise, at };
}

function parseTemplateCall(reader: TokenReader, { at }: Token): Node {
  const name = parseName(reader, 'template clause');
  if (peekPastSpaces(reader).kind !== 'close') {
    return { kind: 'template', name, pipeline: parsePipeline(reader, 'template clause'), at };
  }
  take(reader);
  return { kind: 'template', name, pipeline: undefined, at };
}

function parseBlock(reader: TokenReader, { at }: Token): Node {
  const name = parseName(reader, 'block clause');
  const pipeline = parsePipeline(reader, 'block clause');
  parseTemplate(reader, name, at, 'block clause');
  return { kind: 'template', name, pipeline, at };
}

function parseJump(reader: TokenReader, { at }: Token, kind: 'break' | 'continue'): Node {
  expectClose(reader, `{{${kind}}}`);
  if (reader.loops === 0) throw wrong(reader, at, `{{${kind}}} outside {{range}}`);
  return { kind, at };
}
