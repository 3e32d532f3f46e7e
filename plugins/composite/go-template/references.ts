import { placeOf } from './template-error.ts';
import type { Command, Node, Operand, Pipeline, Templates } from './tree.ts';

/**
 * A place of the data that a template may read.
 *
 * Shape: `path` from the root, `['steps', 'x', 'output', 'f']` for `.steps.x.output.f` and for `index .steps "x" "output" "f"`;
 * what lies inside a list, or behind an index that the text does not name, counts as reading the list. `isWhole` is false where
 * the value is only tested for truth (`if`, `with`, `and`, `or`, `not`), else all below it may be read too. A path on the way to
 * another, such as `.steps` in `$s := .steps`, is none. `line` and `column` are those of the first reading.
 */
export interface Reference {
  readonly path: readonly string[];
  readonly isWhole: boolean;
  readonly line: number;
  readonly column: number;
}

/** Members that one path names at most; a template that goes deeper, e.g. in a loop, reads all below. */
const MAX_PATH = 12;
/** Places that one variable may stand for at once; beyond that it stands for the whole data. */
const MAX_PLACES = 64;
/** Passes over the text until nothing new is found; a template that needs more counts as reading all of the data. */
const MAX_PASSES = 16;

/**
 * Lists what rendering may read, every branch taken, in the order of the text.
 *
 * Shape: no path twice. Variables, `with`, `range`, templates called with a part of the data and `index` with literals are followed;
 * results of other functions are new values, no places.
 */
export function referencesOf(text: string, templates: Templates): readonly Reference[] {
  const reading: Reading = { found: new Map(), assigned: new Map(), dots: new Map([['', ROOT]]), hasChanged: true };
  for (let pass = 0; pass < MAX_PASSES && reading.hasChanged; pass++) {
    reading.hasChanged = false;
    // a template stands for all its calls at once: its dot is whatever any of them hands over
    for (const [name, dot] of reading.dots) readTemplate(reading, name, dot, templates.get(name) ?? []);
  }
  if (reading.hasChanged) note(reading, 0, ROOT, true);
  const found = [...reading.found.values()].sort((a, b) => a.at - b.at);
  return found.map(({ path, isWhole, at }) => ({ path, isWhole, ...placeOf(text, at) }));
}

/** A place that a value may come from. Below an open one the members have no names. */
interface Place {
  readonly path: readonly string[];
  readonly isOpen: boolean;
}

/** Where a value may come from, by key; empty for values that are made. */
type Places = ReadonlyMap<string, Place>;

interface Reading {
  readonly found: Map<string, { readonly path: readonly string[]; readonly isWhole: boolean; readonly at: number }>;
  /** What a variable may stand for, by its name and the offset of its declaration. */
  readonly assigned: Map<string, Places>;
  /** What the dot of each template that is called may be. */
  readonly dots: Map<string, Places>;
  /** Whether this pass found anything that the one before had not. */
  hasChanged: boolean;
}

/** Names in scope: the dot, and for each variable the key in `assigned`. */
interface Names {
  readonly dot: Places;
  readonly variables: { readonly name: string; readonly key: string }[];
}

/** Key of the place that stands for all of the data. */
const ANYTHING = JSON.stringify([[], true]);
const NOWHERE: Places = new Map();
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

/** Adds places to those of a key, and remembers whether any was new. */
function merge(reading: Reading, into: Map<string, Places>, key: string, places: Places): void {
  const before = into.get(key);
  const after = union(before ?? NOWHERE, places);
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
    if (node.pipeline.variables.length === 0) note(reading, node.at, value, true);
  } else if (node.kind === 'template') {
    const dot = node.pipeline === undefined ? NOWHERE : readPipeline(reading, names, node.pipeline);
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
    const value = note(reading, pipeline.at, readPipeline(reading, names, pipeline), false);
    readScoped(names, () => readNodes(reading, node.kind === 'with' ? { ...names, dot: value } : names, body));
  }
  readNodes(reading, names, node.otherwise);
}

function readRange(reading: Reading, names: Names, node: Extract<Node, { kind: 'range' }>): void {
  const elements = opened(note(reading, node.at, readCommands(reading, names, node.pipeline), true));
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
  return value ?? NOWHERE;
}

function bind(reading: Reading, names: Names, { variables, isAssignment, at }: Pipeline, value: Places): void {
  for (const name of variables) {
    if (isAssignment) assign(reading, names, name, value);
    else declare(reading, names, name, `${at}`, value);
  }
}

function readCommand(reading: Reading, names: Names, { words }: Command, piped: Places | undefined): Places {
  const [first, ...others] = words;
  const values = others.map((word) => readOperand(reading, names, word));
  const given = piped === undefined ? values : [...values, piped];
  if (first.kind !== 'call' || first.fields.length > 0) return readOperand(reading, names, first);
  if (first.name === 'index') return readIndex(reading, first.at, given, others);
  const isTest = TESTS.has(first.name);
  for (const places of given) note(reading, first.at, places, !isTest);
  if (first.name === 'slice') return opened(given[0] ?? NOWHERE);
  return isTest && first.name !== 'not' ? union(...given) : NOWHERE;
}

/** Functions that only ask whether their arguments are true. */
const TESTS: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** `index` follows its literals as fields; from the first other argument on, and into lists, it names nothing. */
function readIndex(reading: Reading, at: number, values: readonly Places[], words: readonly Operand[]): Places {
  let places = values[0] ?? NOWHERE;
  for (let argument = 1; argument < values.length; argument++) {
    const word = words[argument];
    const isName = word?.kind === 'literal' && word.literal.type === 'string';
    places = isName ? follow(places, [String(word.literal.value)]) : opened(places);
    if (word !== undefined && !isName) note(reading, at, values[argument] ?? NOWHERE, true);
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
      return NOWHERE;
  }
}

function variablePlaces({ assigned }: Reading, { variables }: Names, name: string): Places {
  const key = variables.findLast((variable) => variable.name === name)?.key;
  return assigned.get(key ?? '') ?? NOWHERE;
}

function follow(places: Places, fields: readonly string[]): Places {
  return placesOf([...places.values()].map((place) => below(place, fields)));
}

function below({ path, isOpen }: Place, fields: readonly string[]): Place {
  if (isOpen) return { path, isOpen };
  const full = [...path, ...fields];
  return full.length <= MAX_PATH ? { path: full, isOpen } : { path: full.slice(0, MAX_PATH), isOpen: true };
}

function note(reading: Reading, at: number, places: Places, isWhole: boolean): Places {
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
