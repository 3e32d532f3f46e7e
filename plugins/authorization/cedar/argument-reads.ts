import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Policy } from './parse-policies.ts';
import { namesOf, nodeOf, operands, referencesOf } from './references.ts';

/** Types of single values that Cedar compares; values of two types are never equal, without an error. */
export type ScalarType = 'boolean' | 'string' | 'long' | 'decimal';

/** What one policy does with arguments. */
export interface ArgumentReads {
  readonly policy: string;
  /** `arg_` attributes that it reads, with `has` too. */
  readonly attributes: ReadonlySet<string>;
  /** It uses the context as a whole, with every argument. */
  readonly wholeContext: boolean;
  /** What attributes are compared with by equality: types of literals, and other attributes. */
  readonly compared: ReadonlyMap<string, Operands>;
}

/** The single values on both sides of a comparison. */
export interface Operands {
  readonly types: Set<ScalarType>;
  /** `arg_` and `claim_` attributes. */
  readonly attributes: Set<string>;
}

/** The policies that read arguments, and how. */
export function readArgumentReads(policies: readonly Policy[]): readonly ArgumentReads[] {
  return policies.map(readsOf).filter(({ attributes, wholeContext }) => wholeContext || attributes.size > 0);
}

function readsOf({ id, json }: Policy): ArgumentReads {
  const { attributes, wholeContext } = referencesOf([json]);
  const read = new Set([...attributes].filter((name) => name.startsWith('arg_')));
  return { policy: id, attributes: read, wholeContext, compared: comparedIn(json) };
}

function comparedIn({ conditions }: PolicyJson): ReadonlyMap<string, Operands> {
  const compared = new Map<string, Operands>();
  const walk = (expression: unknown): void => {
    const node = nodeOf(expression);
    if (node === undefined) return;
    const inner = operands(node);
    if (EQUALITIES.has(node.op)) addComparison(inner, compared);
    for (const operand of inner) walk(operand);
  };
  for (const { body } of conditions) walk(body);
  return compared;
}

/** Operators that are false for values of two types. The others, like `<` and `like`, fail, which denies. */
const EQUALITIES: ReadonlySet<string> = new Set(['==', '!=', 'contains', 'containsAll', 'containsAny']);

function addComparison(sides: readonly unknown[], compared: Map<string, Operands>): void {
  const found: Operands = { types: new Set(), attributes: new Set() };
  for (const side of sides) collectValues(side, found);
  for (const name of found.attributes) {
    if (!name.startsWith('arg_')) continue;
    const known = compared.get(name) ?? { types: new Set(), attributes: new Set() };
    for (const type of found.types) known.types.add(type);
    for (const other of found.attributes) if (other !== name) known.attributes.add(other);
    compared.set(name, known);
  }
}

/** Literals and attributes, also as elements of sets and records. */
function collectValues(expression: unknown, found: Operands): void {
  const node = nodeOf(expression);
  if (node === undefined) return;
  if (node.op === 'Value') {
    const type = typeOf(node.body);
    if (type !== undefined) found.types.add(type);
  } else if (node.op === '.') {
    const [name = ''] = namesOf(node.body);
    if (/^(arg|claim)_/.test(name)) found.attributes.add(name);
  } else if (node.op === 'decimal') found.types.add('decimal');
  else if (CONTAINING.has(node.op)) for (const inner of operands(node)) collectValues(inner, found);
}

const CONTAINING: ReadonlySet<string> = new Set(['Set', 'Record', 'if-then-else']);

/** The type of a single Cedar value; `undefined` for sets, records and entities. */
export function typeOf(value: unknown): ScalarType | undefined {
  if (typeof value === 'number') return 'long';
  if (typeof value === 'boolean' || typeof value === 'string') return typeof value as 'boolean' | 'string';
  return typeof value === 'object' && value !== null && '__extn' in value ? 'decimal' : undefined;
}
