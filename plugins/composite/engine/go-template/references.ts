import { placeOf } from './template-error.ts';
import type { Command, Node, Operand, Pipeline, Templates } from './tree.ts';

/**
 * A path of the data that a template may read.
 *
 * Shape: `path` from the root, `['steps', 'x', 'output', 'f']` for `.steps.x.output.f` and for `index .steps "x" "output" "f"`;
 * an item of a list, or a member with a computed name, counts as the whole list or map. `isWhole` is false where the value is
 * only tested for truth (`if`, `with`, `and`, `or`, `not`), else all values below it may be read too. A prefix of another path,
 * such as `.steps` in `$s := .steps`, is not listed. `line` and `column` are those of the first use.
 */
export interface Reference {
  readonly path: readonly string[];
  readonly isWhole: boolean;
  readonly line: number;
  readonly column: number;
}

/** Longest path; a template that reads deeper, e.g. in a loop, counts as reading all below. */
const MAX_PATH = 12;
/** Paths that one variable may hold; with more it counts as the whole data. */
const MAX_PLACES = 64;
/** Passes over the text until nothing new is found; a template that needs more counts as reading all of the data. */
const MAX_PASSES = 16;

/**
 * Lists the paths that rendering may read, over all branches, in the order of the text.
 *
 * Shape: no path twice. Variables, `with`, `range`, templates called with a part of the data and `index` with literals are followed;
 * results of other functions are new values without a path.
 */
export function referencesOf(text: string, templates: Templates): readonly Reference[] {
  const reading: Reading = { found: new Map(), assigned: new Map(), dots: new Map([['', ROOT]]), hasChanged: true };
  for (let pass = 0; pass < MAX_PASSES && reading.hasChanged; pass++) {
    reading.hasChanged = false;
    // a template is analysed once for all its calls: its dot is the union of their arguments
    for (const [name, dot] of reading.dots) readTemplate(reading, name, dot, templates.get(name) ?? []);
  }
  if (reading.hasChanged) record(reading, 0, ROOT, true);
  const found = [...reading.found.values()].sort((a, b) => a.at - b.at);
  return found.map(({ path, isWhole, at }) => ({ path, isWhole, ...placeOf(text, at) }));
}

/** A path that a value may come from. Below an open one, members are not distinguished. */
interface Place {
  readonly path: readonly string[];
  readonly isOpen: boolean;
}

/** The paths that a value may come from, by key; empty for computed values. */
type Places = ReadonlyMap<string, Place>;

interface Reading {
  readonly found: Map<string, { readonly path: readonly string[]; readonly isWhole: boolean; readonly at: number }>;
  /** The paths that a variable may hold, by its name and the offset of its declaration. */
  readonly assigned: Map<string, Places>;
  /** The paths that the dot of each called template may hold. */
  readonly dots: Map<string, Places>;
  /** Whether this pass found anything new. */
  hasChanged: boolean;
}

/** Names in scope: the dot, and for each variable the key in `assigned`. */
interface Names {
  readonly dot: Places;
  readonly variables: { readonly name: string; readonly key: string }[];
}

/** Key of the place for the whole data. */
const ANYTHING = JSON.stringify([[], true]);
const NO_PLACES: Places = new Map();
const ROOT: Places = placesOf([{ path: [], isOpen: false }]);

function placesOf(places: Iterable<Place>): Places {
  const byKey = new Map<string, Place>();
  for (const place of places) byKey.set(JSON.stringify([place.path, place.isOpen]), place);
  if (byKey.size <= MAX_PLACES && !byKey.has(ANYTHING)) return byKey;
  return new Map([[ANYTHING, { path: [], isOpen: true }]]);
}

function union(...all: readonly Places[]): Places {
  return placesOf(all.flatMap((places) => [...places.values()]));
}

/** Adds places to a key, and sets `hasChanged` when one is new. */
function merge(reading: Reading, into: Map<string, Places>, key: string, places: Places): void {
  const before = into.get(key);
  const after = union(before ?? NO_PLACES, places);
  if (before !== undefined && [...after.keys()].every((place) => before.has(place))) return;
  into.set(key, after);
  reading.hasChanged = true;
}

function readTemplate(reading: Reading, name: string, dot: Places, nodes: readonly Node[]): void {
  const names: Names = { dot, variables: [] };
  declare(reading, names, '$', `of ${name}`, dot);
  readNodes(reading, names, nodes);
}

function readNodes(reading: Reading, names: Names, nodes: readonly Node[]): void {
  for (const node of nodes) readNode(reading, names, node);
}

function readNode(reading: Reading, names: Names, node: Node): void {
  if (node.kind === 'action') {
    const value = readPipeline(reading, names, node.pipeline);
    if (node.pipeline.variables.length === 0) record(reading, node.at, value, true);
  } else if (node.kind === 'template') {
    const dot = node.pipeline === undefined ? NO_PLACES : readPipeline(reading, names, node.pipeline);
    merge(reading, reading.dots, node.name, dot);
  } else if (node.kind === 'range') {
    readScoped(names, () => readRange(reading, names, node));
  } else if (node.kind === 'if' || node.kind === 'with') {
    readScoped(names, () => readBranches(reading, names, node));
  }
}

function readScoped({ variables }: Names, read: () => void): void {
  const mark = variables.length;
  read();
  variables.length = mark;
}

function readBranches(reading: Reading, names: Names, node: Extract<Node, { kind: 'if' | 'with' }>): void {
  for (const { pipeline, body } of node.branches) {
    const value = record(reading, pipeline.at, readPipeline(reading, names, pipeline), false);
    readScoped(names, () => readNodes(reading, node.kind === 'with' ? { ...names, dot: value } : names, body));
  }
  readNodes(reading, names, node.otherwise);
}

function readRange(reading: Reading, names: Names, node: Extract<Node, { kind: 'range' }>): void {
  const elements = opened(record(reading, node.at, readCommands(reading, names, node.pipeline), true));
  bind(reading, names, node.pipeline, elements);
  readScoped(names, () => readNodes(reading, { ...names, dot: elements }, node.body));
  readNodes(reading, names, node.otherwise);
}

function opened(places: Places): Places {
  return placesOf([...places.values()].map(({ path }) => ({ path, isOpen: true })));
}

function declare(reading: Reading, { variables }: Names, name: string, key: string, places: Places): void {
  const full = `${name} ${key}`;
  variables.push({ name, key: full });
  merge(reading, reading.assigned, full, places);
}

function assign(reading: Reading, { variables }: Names, name: string, places: Places): void {
  const key = variables.findLast((variable) => variable.name === name)?.key;
  if (key !== undefined) merge(reading, reading.assigned, key, places);
}

function readPipeline(reading: Reading, names: Names, pipeline: Pipeline): Places {
  const value = readCommands(reading, names, pipeline);
  bind(reading, names, pipeline, value);
  return value;
}

function readCommands(reading: Reading, names: Names, { commands }: Pipeline): Places {
  let value: Places | undefined;
  for (const command of commands) value = readCommand(reading, names, command, value);
  return value ?? NO_PLACES;
}

function bind(reading: Reading, names: Names, { variables, isAssignment, at }: Pipeline, value: Places): void {
  for (const name of variables) {
    if (isAssignment) assign(reading, names, name, value);
    else declare(reading, names, name, `${at}`, value);
  }
}

function readCommand(reading: Reading, names: Names, { operands }: Command, piped: Places | undefined): Places {
  const [first, ...others] = operands;
  const values = others.map((word) => readOperand(reading, names, word));
  const given = piped === undefined ? values : [...values, piped];
  if (first.kind !== 'call' || first.fields.length > 0) return readOperand(reading, names, first);
  if (first.name === 'index') return readIndex(reading, first.at, given, others);
  const isTest = TESTS.has(first.name);
  for (const places of given) record(reading, first.at, places, !isTest);
  if (first.name === 'slice') return opened(given[0] ?? NO_PLACES);
  return isTest && first.name !== 'not' ? union(...given) : NO_PLACES;
}

/** Functions that only test their arguments for truth. */
const TESTS: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** `index` with string literals works like fields; any other argument makes the place open. */
function readIndex(reading: Reading, at: number, values: readonly Places[], operands: readonly Operand[]): Places {
  let places = values[0] ?? NO_PLACES;
  for (let argument = 1; argument < values.length; argument++) {
    const word = operands[argument];
    const isName = word?.kind === 'literal' && word.literal.type === 'string';
    places = isName ? follow(places, [String(word.literal.value)]) : opened(places);
    if (word !== undefined && !isName) record(reading, at, values[argument] ?? NO_PLACES, true);
  }
  return places;
}

function readOperand(reading: Reading, names: Names, operand: Operand): Places {
  switch (operand.kind) {
    case 'dot':
      return names.dot;
    case 'field':
      return follow(names.dot, operand.fields);
    case 'variable':
      return follow(variablePlaces(reading, names, operand.name), operand.fields);
    case 'pipeline':
      return follow(readPipeline(reading, names, operand.pipeline), operand.fields);
    default:
      return NO_PLACES;
  }
}

function variablePlaces({ assigned }: Reading, { variables }: Names, name: string): Places {
  const key = variables.findLast((variable) => variable.name === name)?.key;
  return assigned.get(key ?? '') ?? NO_PLACES;
}

function follow(places: Places, fields: readonly string[]): Places {
  return placesOf([...places.values()].map((place) => below(place, fields)));
}

function below({ path, isOpen }: Place, fields: readonly string[]): Place {
  if (isOpen) return { path, isOpen };
  const full = [...path, ...fields];
  return full.length <= MAX_PATH ? { path: full, isOpen } : { path: full.slice(0, MAX_PATH), isOpen: true };
}

function record(reading: Reading, at: number, places: Places, isWhole: boolean): Places {
  for (const { path, isOpen } of places.values()) {
    const key = JSON.stringify(path);
    const before = reading.found.get(key);
    const after = { path, isWhole: isWhole || isOpen || before?.isWhole === true, at: Math.min(at, before?.at ?? at) };
    if (before?.isWhole === after.isWhole && before.at === after.at) continue;
    reading.found.set(key, after);
    reading.hasChanged = true;
  }
  return places;
}
