import {
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import {
  type Change,
  type EntryText,
  eolOf,
  faultAt,
  isFault,
  lineEnd,
  lineStart,
  type Made,
  type Plain,
  type ServersPlace,
  splice,
  type TextFault,
} from './entry-text.ts';
import { checkedEdit, containerFault, entriesIn } from './expected.ts';

/**
 * Entries in YAML. The library says where a node is; the text is changed at these places only, because the library writes
 * untouched parts anew.
 */
export function yamlEntries(place: ServersPlace): EntryText {
  return {
    read(text) {
      const read = parse(text, place);
      return isFault(read) ? read : entriesIn(read.plain, place);
    },
    put(text, name, value, made) {
      const read = parse(text, place);
      if (isFault(read)) return read;
      const put = putChanges(text, read.root, place, name, value);
      const after = splice(text, put.changes);
      const edited = { text: after, made: { ...made, ...put.made }, own: put.own };
      return checkedEdit(text, edited, place, { before: read.plain, name, value: widened(value) }, parse);
    },
    remove(text, name, made) {
      const read = parse(text, place);
      if (isFault(read)) return read;
      const container = containerOf(read.root, place);
      const item = itemOf(container, name);
      if (container === undefined || item === undefined) return { text, made, own: '' };
      const [from, to] = rangeOf(text, container, item);
      const rest = splice(text, [{ at: from, end: to, text: '' }]);
      const after = container.items.length > 1 ? rest : restored(rest, place, made);
      const edited = { text: after, made, own: text.slice(from, to) };
      return checkedEdit(text, edited, place, { before: read.plain, name, value: undefined }, parse);
    },
  };
}

interface Parsed {
  readonly root: YAMLMap | undefined;
  readonly plain: Plain;
}

type Container = YAMLMap | YAMLSeq;
type Item = Pair | Node;

function parse(text: string, place: ServersPlace): Parsed | TextFault {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, logLevel: 'silent', intAsBigInt: true });
  if ('empty' in documents) return { root: undefined, plain: undefined };
  if (documents.length > 1) return faultAt(text, 0, 'the file has several YAML documents');
  const [document] = documents;
  const [error] = document?.errors ?? [];
  if (error !== undefined)
    return faultAt(text, error.pos[0], `not YAML: ${error.code.toLowerCase().replaceAll('_', ' ')}`);
  const contents = document?.contents ?? undefined;
  if (contents === undefined || (isScalar(contents) && contents.value === null && contents.source === ''))
    return { root: undefined, plain: undefined };
  if (!isMap(contents)) return faultAt(text, 0, 'the file does not hold an object');
  const value = contents.get(place.key, true) as unknown;
  if (value !== undefined && !isScalar(value) && !isCollection(value))
    return faultAt(text, 0, `${place.key} refers to another part of the file`);
  try {
    const plain: Plain = document?.toJS({ maxAliasCount: 100 });
    const fault = containerFault(plain, place);
    return fault === undefined ? { root: contents as YAMLMap, plain } : faultAt(text, 0, fault);
  } catch {
    return faultAt(text, 0, 'the file has too many references to other parts');
  }
}

function pairOf(root: YAMLMap | undefined, key: string): Pair | undefined {
  return root?.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function containerOf(root: YAMLMap | undefined, { key }: ServersPlace): Container | undefined {
  const value = pairOf(root, key)?.value;
  return isMap(value) || isSeq(value) ? value : undefined;
}

function itemOf(container: Container | undefined, name: string): Item | undefined {
  if (isMap(container)) return pairOf(container, name);
  if (!isSeq(container)) return undefined;
  return (container.items as Node[]).find((item) => isMap(item) && item.get('name') === name);
}

interface Put {
  readonly changes: readonly Change[];
  readonly made: Made;
  readonly own: string;
}

function putChanges(text: string, root: YAMLMap | undefined, place: ServersPlace, name: string, value: object): Put {
  const eol = eolOf(text);
  const container = containerOf(root, place);
  if (container !== undefined && container.items.length > 0) return putInto(text, container, name, value);
  const block = (column: number): string => blockText(place.shape, name, value, ' '.repeat(column), eol);
  if (root === undefined) {
    const glue = text === '' || text.endsWith('\n') ? '' : eol;
    const own = block(2);
    return {
      changes: [{ at: text.length, text: `${glue}${place.key}:${eol}${own}${eol}` }],
      made: { root: text },
      own,
    };
  }
  const column = columnOf(text, root);
  const indent = ' '.repeat(column);
  const pair = pairOf(root, place.key);
  if (root.flow || pair === undefined) {
    const own = block(column + 2);
    const at = root.flow ? contentEnd(text, root) - 1 : lineEnd(text, contentEnd(text, root));
    const json = JSON.stringify(place.shape === 'map' ? { [name]: value } : [value]);
    const flow = `${root.items.length > 0 ? ', ' : ''}${JSON.stringify(place.key)}: ${json}`;
    return {
      changes: [{ at, text: root.flow ? flow : `${eol}${indent}${place.key}:${eol}${own}` }],
      made: { container: null },
      own: root.flow ? flow : own,
    };
  }
  // an empty container: `{}`, `[]`, `null` or nothing
  const colon = colonEnd(text, pair);
  const end = Math.max(colon, contentEnd(text, pair.value as Node));
  const own = block(column + 2);
  return {
    changes: [
      { at: colon, end, text: '' },
      { at: lineEnd(text, end), text: `${eol}${own}` },
    ],
    made: { container: text.slice(colon, end) },
    own,
  };
}

function putInto(text: string, container: Container, name: string, value: object): Put {
  const present = itemOf(container, name);
  const eol = eolOf(text);
  const shape = isMap(container) ? 'map' : 'list';
  if (container.flow) {
    const own = shape === 'map' ? `${JSON.stringify(name)}: ${JSON.stringify(value)}` : JSON.stringify(value);
    if (present !== undefined) {
      const [at, end] = [startOf(present), contentEnd(text, present)];
      return { changes: [{ at, end, text: own }], made: {}, own };
    }
    const at = contentEnd(text, container.items.at(-1) as Item);
    const hasComma = text.slice(at).trimStart().startsWith(',');
    const after = hasComma ? text.indexOf(',', at) + 1 : at;
    return { changes: [{ at: after, text: hasComma ? ` ${own}` : `, ${own}` }], made: {}, own };
  }
  const own = blockText(shape, name, value, ' '.repeat(columnOf(text, container)), eol);
  if (present !== undefined) {
    const [at, end] = rangeOf(text, container, present);
    return { changes: [{ at, end, text: `${at === 0 ? '' : eol}${own}` }], made: {}, own };
  }
  const at = lineEnd(text, contentEnd(text, container));
  return { changes: [{ at, text: `${eol}${own}` }], made: {}, own };
}

function blockText(shape: ServersPlace['shape'], name: string, value: object, indent: string, eol: string): string {
  const text = stringify(shape === 'map' ? new Map([[name, value]]) : [value], { lineWidth: 0, indent: 2 });
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => (line === '' ? '' : `${indent}${line}`)).join(eol);
}

function startOf(item: Item): number {
  return (isPair(item) ? (item.key as Node).range?.[0] : item.range?.[0]) ?? 0;
}

/** The end of what a node holds, without comments and white space behind it. */
function contentEnd(text: string, item: Item): number {
  if (isPair(item)) return contentEnd(text, (item.value ?? item.key) as Node) || contentEnd(text, item.key as Node);
  if (isCollection(item) && !item.flow && item.items.length > 0) return contentEnd(text, item.items.at(-1) as Item);
  let end = item.range?.[1] ?? 0;
  while (end > (item.range?.[0] ?? 0) && /\s/.test(text[end - 1] ?? '')) end -= 1;
  return end;
}

function colonEnd(text: string, pair: Pair): number {
  return text.indexOf(':', (pair.key as Node).range?.[1] ?? 0) + 1;
}

function columnOf(text: string, container: Container): number {
  const start = container.range?.[0] ?? 0;
  return start - lineStart(text, start);
}

/** The lines of an item with the line break in front of them; in a flow container, the item with its comma. */
function rangeOf(text: string, container: Container, item: Item): readonly [number, number] {
  const items = container.items as Item[];
  const index = items.indexOf(item);
  const end = contentEnd(text, item);
  if (container.flow) {
    const before = items[index - 1];
    const next = items[index + 1];
    if (before !== undefined) return [contentEnd(text, before), end];
    return [startOf(item), next === undefined ? end : startOf(next)];
  }
  const start = lineStart(text, startOf(item));
  const isFirstLine = start === 0;
  if (!isFirstLine) return [start - (text[start - 2] === '\r' ? 2 : 1), lineEnd(text, end)];
  const stop = lineEnd(text, end);
  return [0, stop === text.length ? stop : text.indexOf('\n', stop) + 1];
}

/** Puts back what was around the entries before the first one was written. */
function restored(text: string, place: ServersPlace, { container: kept, root: whole }: Made): string {
  const read = parse(text, place);
  if (isFault(read)) return text;
  const pair = pairOf(read.root, place.key);
  if (pair === undefined || read.root === undefined) return text;
  if (whole !== undefined && read.root.items.length === 1) {
    const [from, to] = rangeOf(text, read.root, pair);
    if (splice(text, [{ at: from, end: to, text: '' }]).trim() === whole.trim()) return whole;
  }
  if (kept === null) {
    const [from, to] = rangeOf(text, read.root, pair);
    return splice(text, [{ at: from, end: to, text: '' }]);
  }
  const value = pair.value as Node | null;
  if (isCollection(value)) return text; // a flow container: its brackets stay
  return splice(text, [{ at: colonEnd(text, pair), text: kept ?? (place.shape === 'map' ? ' {}' : ' []') }]);
}

/** Integers as the parser reads them. */
function widened(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, widened(member)]));
}
