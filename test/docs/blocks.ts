import { readTree } from '../support/tree.ts';

/** One fenced block of a page. */
export interface DocBlock {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** Words after the language: the kind of the block and its argument, as in `yaml vmcp sign-in`. */
  readonly kind: string;
  readonly argument: string;
  readonly text: string;
  /** Path from `file=PATH`: the console blocks of the page have the text in this file. */
  readonly file?: string;
  /** Folder of the repository from `in=FOLDER`: its files are copied for the console blocks. */
  readonly from?: string;
  /** Source of a block that `npm run docs` fills. */
  readonly snippet?: string;
  /** Name in `<!-- output:NAME -->` before the block. */
  readonly output?: string;
}

const PAGES = /^(?:README|docs\/(?:start|guides|operations)\/.+)\.md$/;
const FENCE = /^(\s*)(`{3,}|~{3,})\s*(.*?)\s*$/;
const MARK = /<!-- (snippet: |output:(?!end ))(\S+) -->/;

/** The hand-written pages whose blocks are checked, by path. */
export function checkedPages(): ReadonlyMap<string, string> {
  return new Map([...readTree()].filter(([path]) => PAGES.test(path)));
}

/** The blocks of one page, in order. @throws Error for a block without an end */
export function blocksOf(page: string, text: string): readonly DocBlock[] {
  const lines = text.split('\n');
  const blocks: DocBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent = '', fence, info = ''] = FENCE.exec(lines[at] ?? '') ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence);
    if (end === -1) throw new Error(`${page}:${at + 1}: the block has no end`);
    const inner = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    const words = info.split(/\s+/);
    const after = (name: string) => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
    const [language = '', kind = '', ...rest] = words.filter((word) => !/^(?:file|in)=/.test(word));
    const [file, from] = [after('file'), after('in')];
    const [, mark, name] = MARK.exec(lines[at - 1] ?? '') ?? MARK.exec(lines[at - 2] ?? '') ?? [];
    blocks.push({
      ...{ page, line: at + 1, language, kind, argument: rest.join(' '), text: inner.join('\n') },
      ...(file === undefined ? {} : { file }),
      ...(from === undefined ? {} : { from }),
      ...(mark === 'snippet: ' && name !== undefined ? { snippet: name } : {}),
      ...(mark === 'output:' && name !== undefined ? { output: name } : {}),
    });
    at = end;
  }
  return blocks;
}

/** Every block of every checked page. */
export function allBlocks(): readonly DocBlock[] {
  return [...checkedPages()].flatMap(([page, text]) => blocksOf(page, text));
}
