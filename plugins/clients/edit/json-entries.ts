import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import {
  type Change,
  type EntryText,
  eolOf,
  faultAt,
  isFault,
  lineStart,
  type Made,
  type Plain,
  type ServersPlace,
  splice,
  type TextFault,
} from './entry-text.ts';
import { checkedEdit, containerFault, entriesIn } from './expected.ts';

/** Entries in JSON with comments and trailing commas. */
export function jsonEntries(place: ServersPlace): EntryText {
  return {
    read(text) {
      const read = parse(text, place);
      return isFault(read) ? read : entriesIn(read.plain, place);
    },
    put(text, name, value, made) {
      const read = parse(text, place);
      if (isFault(read)) return read;
      const { changes, made: added, own } = putChanges(text, read.root, place.key, name, value);
      const edited = { text: splice(text, changes), made: { ...made, ...added }, own };
      return checkedEdit(text, edited, place, { before: read.plain, name, value }, parse);
    },
    remove(text, name, made) {
      const read = parse(text, place);
      if (isFault(read)) return read;
      const property = find(find(read.root, place.key)?.children?.[1], name);
      if (property === undefined) return { text, made, own: '' };
      const own = text.slice(property.offset, property.offset + property.length);
      const after = restored(withoutProperty(text, property), place, made);
      const edited = { text: after, made, own };
      return checkedEdit(text, edited, place, { before: read.plain, name, value: undefined }, parse);
    },
  };
}

interface Parsed {
  /** `undefined` for a text without content. */
  readonly root: Node | undefined;
  readonly plain: Plain;
}

function parse(text: string, place: ServersPlace): Parsed | TextFault {
  try {
    return parseWhole(text, place);
  } catch (cause) {
    if (cause instanceof RangeError) return faultAt(text, 0, 'nested too deeply'); // the stack is full
    throw cause;
  }
}

function parseWhole(text: string, place: ServersPlace): Parsed | TextFault {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) return faultAt(text, first.offset, `not JSON: ${wordsOf(first)}`);
  const same = root?.children?.filter((property) => property.children?.[0]?.value === place.key) ?? [];
  if (root?.type === 'object' && same.length > 1)
    return faultAt(text, same[1]?.offset ?? 0, `the member ${place.key} is there twice`);
  const plain = root === undefined ? undefined : plainOf(root);
  const fault = containerFault(plain, place);
  return fault === undefined ? { root, plain } : faultAt(text, root?.offset ?? 0, fault);
}

/** `CloseBraceExpected` as `close brace expected`. */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/\B[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
}

/** The library's own conversion would set the prototype for a member `__proto__`. */
function plainOf(node: Node): Plain {
  if (node.type === 'array') return (node.children ?? []).map(plainOf);
  if (node.type !== 'object') return node.value;
  const object: Record<string, unknown> = Object.create(null);
  for (const { children } of node.children ?? []) {
    const [key, value] = children ?? [];
    if (key !== undefined && value !== undefined) object[key.value as string] = plainOf(value);
  }
  return object;
}

/** The last property of this name, because it counts. */
function find(object: Node | undefined, name: string): Node | undefined {
  return object?.children?.findLast((property) => property.children?.[0]?.value === name);
}

interface Put {
  readonly changes: readonly Change[];
  readonly made: Made;
  readonly own: string;
}

function putChanges(text: string, root: Node | undefined, key: string, name: string, value: object): Put {
  const style = styleOf(text, root);
  if (root === undefined) {
    const own = property(name, value, style, 2);
    const inner = `${style.eol}${style.unit}${JSON.stringify(key)}: {${style.eol}${own}${style.eol}${style.unit}}`;
    const at = text.length;
    const glue = text === '' || text.endsWith('\n') ? '' : style.eol;
    return { changes: [{ at, text: `${glue}{${inner}${style.eol}}${style.eol}` }], made: { root: text }, own };
  }
  const container = find(root, key)?.children?.[1];
  if (container === undefined) {
    const own = property(name, value, style, 2);
    const whole = `${style.unit}${JSON.stringify(key)}: {${style.eol}${own}${style.eol}${style.unit}}`;
    const isEmpty = (root.children ?? []).length === 0;
    const made = { container: null, ...(isEmpty ? { root: text } : {}) };
    return { changes: inserted(text, root, whole, style, 0), made, own };
  }
  if (container.type !== 'object') {
    // `null`: the only other value that is accepted
    const own = property(name, value, style, 2);
    const at = container.offset;
    const replaced = text.slice(at, at + container.length);
    const fresh = `{${style.eol}${own}${style.eol}${style.unit}}`;
    return { changes: [{ at, end: at + container.length, text: fresh }], made: { container: replaced }, own };
  }
  const present = find(container, name)?.children?.[1];
  const depth = indentOf(text, container.offset);
  if (present !== undefined) {
    const isInline = !text.slice(present.offset, present.offset + present.length).includes('\n');
    const own = isInline ? JSON.stringify(value) : rendered(value, style, depth + style.unit);
    return { changes: [{ at: present.offset, end: present.offset + present.length, text: own }], made: {}, own };
  }
  const own = `${depth}${style.unit}${JSON.stringify(name)}: ${rendered(value, style, depth + style.unit)}`;
  const isEmpty = (container.children ?? []).length === 0;
  const made = isEmpty ? { container: text.slice(container.offset, container.offset + container.length) } : {};
  return { changes: inserted(text, container, own, style, depth), made, own };
}

interface Style {
  readonly eol: string;
  readonly unit: string;
}

function styleOf(text: string, root: Node | undefined): Style {
  const first = root?.children?.[0];
  const unit = first === undefined ? '' : indentOf(text, first.offset);
  const isOwnLine = first !== undefined && text.slice(lineStart(text, first.offset), first.offset).trim() === '';
  return { eol: eolOf(text), unit: isOwnLine && unit !== '' ? unit : '  ' };
}

/** The white space before the first character of a line. */
function indentOf(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';
}

function property(name: string, value: object, style: Style, levels: number): string {
  const indent = style.unit.repeat(levels);
  return `${indent}${JSON.stringify(name)}: ${rendered(value, style, indent)}`;
}

function rendered(value: object, { eol, unit }: Style, indent: string): string {
  return JSON.stringify(value, undefined, unit).split('\n').join(`${eol}${indent}`);
}

/** Adds the lines of a property behind the last one of an object. */
function inserted(text: string, object: Node, lines: string, style: Style, depth: string | 0): readonly Change[] {
  const last = object.children?.at(-1);
  const from = last === undefined ? object.offset + 1 : last.offset + last.length;
  const { comma, end } = restOfLine(text, from);
  const closing = object.offset + object.length - 1;
  const isOneLine = !text.slice(object.offset, closing).includes('\n');
  if (last === undefined) {
    const tail = isOneLine ? `${style.eol}${depth === 0 ? '' : depth}` : '';
    return [{ at: end, text: `${style.eol}${lines}${tail}` }];
  }
  const isInline = !text.slice(object.offset, last.offset).includes('\n');
  const added = isInline ? ` ${inline(lines)}` : `${style.eol}${lines}`;
  if (comma !== undefined) return [{ at: Math.max(end, comma + 1), text: `${added},` }];
  const at = isInline ? from : end;
  return at === from
    ? [{ at, text: `,${added}` }]
    : [
        { at: from, text: ',' },
        { at, text: added },
      ];
}

/** Lines of JSON that we have written ourselves, as one line. */
function inline(lines: string): string {
  const [, name = '""', value = 'null'] = /^\s*("(?:[^"\\]|\\.)*"): ([\s\S]*)$/.exec(lines) ?? [];
  return `${name}: ${JSON.stringify(JSON.parse(value))}`;
}

/** The comma behind an offset, and the end of what stands on the same line: comma and comments. */
function restOfLine(text: string, from: number): { readonly comma: number | undefined; readonly end: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let comma: number | undefined;
  let end = from;
  let isSameLine = true;
  for (;;) {
    const kind: number = scanner.scan();
    const start = scanner.getTokenOffset();
    if (kind === KIND.space) continue;
    if (kind === KIND.lineBreak) isSameLine = false;
    else if (kind === KIND.comma && comma === undefined) {
      comma = start;
      if (isSameLine) end = start + 1;
    } else if (kind === KIND.lineComment || kind === KIND.blockComment) {
      if (isSameLine) end = start + scanner.getTokenLength();
    } else return { comma, end };
  }
}

/** The tokens of the library's scanner: its enumeration exists only in its types. */
const KIND = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, space: 15 } as const;

/** Removes a property with its comma, its lines and the comment on its last line. */
function withoutProperty(text: string, property: Node): string {
  const siblings = property.parent?.children ?? [];
  const index = siblings.indexOf(property);
  const before = siblings[index - 1];
  const end = property.offset + property.length;
  const { comma, end: restEnd } = restOfLine(text, end);
  const start = lineStart(text, property.offset);
  const isOwnLine = text.slice(start, property.offset).trim() === '';
  const next = siblings[index + 1];
  const isLast = next === undefined;
  // the comma in front was made with the property, unless the object has a trailing comma
  const front = isLast && comma === undefined && before !== undefined ? commaAfter(text, before) : undefined;
  const changes: Change[] = front === undefined ? [] : [{ at: front, end: front + 1, text: '' }];
  if (isOwnLine && (next === undefined || text.slice(end, next.offset).includes('\n'))) {
    const to = Math.max(restEnd, comma === undefined ? 0 : comma + 1);
    const from = start === 0 ? 0 : start - (text[start - 2] === '\r' ? 2 : 1);
    return splice(text, [...changes, { at: Math.max(from, front === undefined ? 0 : front + 1), end: to, text: '' }]);
  }
  if (before === undefined) {
    const to = next === undefined ? (comma === undefined ? end : comma + 1) : next.offset;
    return splice(text, [...changes, { at: property.offset, end: to, text: '' }]);
  }
  const from = (commaAfter(text, before) ?? before.offset + before.length) + 1;
  return splice(text, [...changes, { at: from, end: comma === undefined ? end : comma + 1, text: '' }]);
}

function commaAfter(text: string, node: Node): number | undefined {
  return restOfLine(text, node.offset + node.length).comma;
}

/** Removes what was made around the entries, when the last of them is gone. */
function restored(text: string, place: ServersPlace, { container: kept, root: whole }: Made): string {
  const read = parse(text, place);
  if (isFault(read)) return text;
  const member = find(read.root, place.key);
  const container = member?.children?.[1];
  if (member === undefined || container === undefined || (container.children ?? []).length > 0) return text;
  const inner = text.slice(container.offset + 1, container.offset + container.length - 1);
  if (inner.trim() !== '') return text; // comments of the user
  const isOnly = read.root?.children?.length === 1;
  if (whole !== undefined && isOnly) {
    const around = text.slice(0, read.root?.offset) + text.slice((read.root?.offset ?? 0) + (read.root?.length ?? 0));
    if (around.trim() === commentsOf(whole, place).trim()) return whole;
  }
  if (kept === undefined) return text;
  if (kept === null) return withoutProperty(text, member);
  return splice(text, [{ at: container.offset, end: container.offset + container.length, text: kept }]);
}

/** What a text without members has around its object. */
function commentsOf(text: string, place: ServersPlace): string {
  const read = parse(text, place);
  if (isFault(read) || read.root === undefined) return text;
  return text.slice(0, read.root.offset) + text.slice(read.root.offset + read.root.length);
}
