import type { Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';

/** One node of a Cedar expression: its operator and what stands under it. */
interface Node {
  readonly op: string;
  readonly body: unknown;
}

/** What policies can see of a request. Whatever is not here cannot change a decision. */
export interface Mentions {
  /** Attribute names read by `.` or `has`, of whatever they are read. */
  readonly attributes: ReadonlySet<string>;
  /** Entities named, as `Type::"id"`. */
  readonly entities: ReadonlySet<string>;
  /** The context is used as a whole: every claim and argument counts. */
  readonly wholeContext: boolean;
  /** The resource is compared with something that is not written in the policy: its id counts, whatever it is. */
  readonly anyResource: boolean;
  /** Attributes that are compared with a pattern. */
  readonly patterns: ReadonlySet<string>;
}

/** The one spelling of an entity as a key. */
export function uidKey(type: string, id: string): string {
  return `${type}::${JSON.stringify(id)}`;
}

/** What a set of policies can see, joined. */
export function mentionsOf(policies: readonly PolicyJson[]): Mentions {
  const found = nothingFound();
  for (const policy of policies) {
    for (const scope of [policy.principal, policy.action, policy.resource]) noteEntities(scope, found.entities);
    for (const { body } of policy.conditions) note(body, found);
  }
  return found;
}

/** Whether an expression may come out differently with other arguments. */
export function readsArguments(expression: Expr): boolean {
  const { attributes, wholeContext } = mentionsIn(expression);
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

/** The node of an expression; `undefined` for what is none. */
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

function nothingFound(): Found {
  return { attributes: new Set(), entities: new Set(), wholeContext: false, anyResource: false, patterns: new Set() };
}

function mentionsIn(expression: Expr): Mentions {
  const found = nothingFound();
  note(expression, found);
  return found;
}

function note(expression: unknown, found: Found): void {
  const node = nodeOf(expression);
  if (node === undefined) return;
  const { op, body } = node;
  if (op === 'Value') return noteEntities(body, found.entities);
  if (op === 'Var') {
    // reached only where no rule below took the variable with its operator
    if (body === 'context') found.wholeContext = true;
    if (body === 'resource') found.anyResource = true;
    return;
  }
  if (op === '.' || op === 'has') for (const name of namesOf(body)) found.attributes.add(name);
  const inner = operands(node);
  if (op === 'like') for (const compared of inner) found.patterns.add(attributeOf(nodeOf(compared)?.body ?? {}));
  const isPlain = op === '.' || op === 'has' || (op === 'is' && inner.length === 1);
  const isLiteral = COMPARES.has(op) && inner.some(isWritten);
  for (const operand of inner) {
    const variable = nodeOf(operand);
    if (variable?.op === 'Var' && (isPlain || (isLiteral && variable.body !== 'context'))) continue;
    note(operand, found);
  }
}

/** Comparisons with entities that stand in the policy see no other id than those. */
const COMPARES: ReadonlySet<string> = new Set(['==', '!=', 'in', 'is']);

function isWritten(expression: unknown): boolean {
  const node = nodeOf(expression);
  if (node?.op === 'Value') return true;
  return node?.op === 'Set' && Array.isArray(node.body) && node.body.every(isWritten);
}

/** What stands under a node, whatever the operator: unknown ones hide nothing. */
function operands({ op, body }: Node): readonly unknown[] {
  if (op === 'Value' || op === 'Var' || op === 'Slot') return [];
  if (Array.isArray(body)) return body as readonly unknown[]; // sets, and the arguments of extension functions
  if (typeof body !== 'object' || body === null) return [];
  if (op === '.' || op === 'has' || op === 'like') return [(body as { readonly left: unknown }).left];
  return Object.values(body).filter((part) => typeof part === 'object' && part !== null);
}

function attributeOf(body: unknown): string {
  return namesOf(body)[0] ?? '';
}

/** `has a.b` names several at once. */
function namesOf(body: unknown): readonly string[] {
  const { attr } = body as { readonly attr?: string | readonly string[] };
  if (attr === undefined) return [];
  return typeof attr === 'string' ? [attr] : attr;
}

function noteEntities(value: unknown, entities: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  if (typeof type === 'string' && typeof id === 'string') entities.add(uidKey(type, id));
  for (const inner of Object.values(value)) noteEntities(inner, entities);
}
