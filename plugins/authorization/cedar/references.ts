import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';

/** One node of a Cedar expression: its operator and its operands. */
interface Node {
  readonly op: string;
  readonly body: unknown;
}

/** The data of a request that policies read. Other data cannot change a decision. */
export interface References {
  /** Attribute names that are read with `.` or `has`, on any operand. */
  readonly attributes: ReadonlySet<string>;
  /** Entities named, as `Type::"id"`. */
  readonly entities: ReadonlySet<string>;
  /** Whether the context is used as a whole, so that every claim and argument matters. */
  readonly wholeContext: boolean;
  /** Whether the resource is compared with a value that is not in the policy, so that every id matters. */
  readonly anyResource: boolean;
  /** Attributes that are compared with a `like` pattern. */
  readonly patterns: ReadonlySet<string>;
}

/** The canonical key of an entity. */
export function uidKey(type: string, id: string): string {
  return `${type}::${JSON.stringify(id)}`;
}

/** The references of a set of policies. */
export function referencesOf(policies: readonly PolicyJson[]): References {
  const found = noReferences();
  for (const policy of policies) {
    for (const scope of [policy.principal, policy.action, policy.resource]) collectEntities(scope, found.entities);
    for (const { body } of policy.conditions) collect(body, found);
  }
  return found;
}

/** Whether the value of an expression may depend on arguments. */
export function readsArguments(expression: Expr): boolean {
  const { attributes, wholeContext } = referencesIn(expression);
  return wholeContext || [...attributes].some((name) => name.startsWith('arg_'));
}

/** Attributes that are read without a `has` of the same name in the same policy. */
export function unguarded({ conditions }: PolicyJson): readonly string[] {
  const read = new Set<string>();
  const guarded = new Set<string>();
  const walk = (expression: unknown): void => {
    const node = nodeOf(expression);
    if (node === undefined) return;
    if (node.op === '.') read.add(attributeOf(node.body));
    if (node.op === 'has') for (const name of namesOf(node.body)) guarded.add(name);
    for (const inner of operands(node)) walk(inner);
  };
  for (const { body } of conditions) walk(body);
  return [...read].filter((name) => /^(arg|claim)_/.test(name) && !guarded.has(name));
}

/** The node of an expression; `undefined` for other values. */
export function nodeOf(expression: unknown): Node | undefined {
  if (typeof expression !== 'object' || expression === null) return undefined;
  const [first] = Object.entries(expression);
  return first === undefined ? undefined : { op: first[0], body: first[1] };
}

interface Found {
  readonly attributes: Set<string>;
  readonly entities: Set<string>;
  wholeContext: boolean;
  anyResource: boolean;
  readonly patterns: Set<string>;
}

function noReferences(): Found {
  return { attributes: new Set(), entities: new Set(), wholeContext: false, anyResource: false, patterns: new Set() };
}

function referencesIn(expression: Expr): References {
  const found = noReferences();
  collect(expression, found);
  return found;
}

function collect(expression: unknown, found: Found): void {
  const node = nodeOf(expression);
  if (node === undefined) return;
  const { op, body } = node;
  if (op === 'Value') return collectEntities(body, found.entities);
  if (op === 'Var') {
    // only variables that the rules below do not handle
    if (body === 'context') found.wholeContext = true;
    if (body === 'resource') found.anyResource = true;
    return;
  }
  if (op === '.' || op === 'has') for (const name of namesOf(body)) found.attributes.add(name);
  const inner = operands(node);
  if (op === 'like') for (const compared of inner) found.patterns.add(attributeOf(nodeOf(compared)?.body ?? {}));
  const isPlain = op === '.' || op === 'has' || (op === 'is' && inner.length === 1);
  const comparesLiteral = COMPARES.has(op) && inner.some(isLiteral);
  for (const operand of inner) {
    const variable = nodeOf(operand);
    if (variable?.op === 'Var' && (isPlain || (comparesLiteral && variable.body !== 'context'))) continue;
    collect(operand, found);
  }
}

/** Operators whose comparison with a literal entity depends only on that entity. */
const COMPARES: ReadonlySet<string> = new Set(['==', '!=', 'in', 'is']);

function isLiteral(expression: unknown): boolean {
  const node = nodeOf(expression);
  if (node?.op === 'Value') return true;
  return node?.op === 'Set' && Array.isArray(node.body) && node.body.every(isLiteral);
}

/** The operands of a node, also for unknown operators. */
export function operands({ op, body }: Node): readonly unknown[] {
  if (op === 'Value' || op === 'Var' || op === 'Slot') return [];
  if (Array.isArray(body)) return body as readonly unknown[]; // sets, and the arguments of extension functions
  if (typeof body !== 'object' || body === null) return [];
  if (op === '.' || op === 'has' || op === 'like') return [(body as { readonly left: unknown }).left];
  return Object.values(body).filter((part) => typeof part === 'object' && part !== null);
}

function attributeOf(body: unknown): string {
  return namesOf(body)[0] ?? '';
}

/** `has a.b` has several attribute names. */
export function namesOf(body: unknown): readonly string[] {
  const { attr } = body as { readonly attr?: string | readonly string[] };
  if (attr === undefined) return [];
  return typeof attr === 'string' ? [attr] : attr;
}

function collectEntities(value: unknown, entities: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  if (typeof type === 'string' && typeof id === 'string') entities.add(uidKey(type, id));
  for (const inner of Object.values(value)) collectEntities(inner, entities);
}
