/** One part of a template, for matching. */
export type Part =
  | { readonly kind: 'literal'; readonly text: string }
  /** One or more characters, except those in `without`. */
  | { readonly kind: 'run'; readonly without: string }
  /** Empty, or `first` and any characters except those in `without`. */
  | { readonly kind: 'optional'; readonly first: string; readonly without: string }
  /** Empty, or `first` and pairs of the names, joined by `separator`; any names when `names` is absent. */
  | {
      readonly kind: 'pairs';
      readonly first: string;
      readonly separator: string;
      readonly names: readonly string[] | undefined;
      readonly without: string;
    };

/** Parses a template; `undefined` when it is malformed or exceeds a limit. Source: RFC 6570 §2. */
export function readTemplate(template: string): readonly Part[] | undefined {
  if (template.length > MAX_TEMPLATE) return undefined;
  const parts: Part[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{', at);
    const text = template.slice(at, open === -1 ? undefined : open);
    if (text.includes('}')) return undefined;
    if (text !== '') parts.push({ kind: 'literal', text });
    if (open === -1) break;
    const close = template.indexOf('}', open);
    const expression = close === -1 ? undefined : readExpression(template.slice(open + 1, close));
    if (expression === undefined) return undefined;
    parts.push(...expression);
    if (parts.length > MAX_PARTS) return undefined;
    at = close + 1;
  }
  return parts;
}

/** Templates longer than this are listed, but no URI is matched against them. */
export const MAX_TEMPLATE = 2048;
const MAX_PARTS = 64; // with MAX_MATCHED_URI it limits the cost of one match

/** Together with the longest matched URI it limits what the templates of one backend cost every reader. */
export const MAX_PARTS_PER_BACKEND = 1024;

interface Variable {
  readonly name: string;
  readonly isExploded: boolean;
}

function readExpression(text: string): readonly Part[] | undefined {
  const operator = OPERATORS.get(text.charAt(0));
  const variables = (operator === undefined ? text : text.slice(1)).split(',').map(readVariable);
  if (!variables.every((variable) => variable !== undefined)) return undefined;
  return (operator ?? simple)(variables);
}

function readVariable(text: string): Variable | undefined {
  const read = VARIABLE.exec(text);
  if (read?.groups?.name === undefined) return undefined;
  return { name: read.groups.name, isExploded: read.groups.explode !== undefined };
}

/** RFC 6570 §2.3, and dashes, which many servers use. Linear: every alternative starts with another character. */
const VARIABLE = /^(?<name>(?:[A-Za-z0-9_.-]|%[0-9A-Fa-f]{2})+)(?:(?<explode>\*)|:[1-9][0-9]{0,3})?$/;

type Operator = (variables: readonly Variable[]) => readonly Part[];

const simple: Operator = () => [{ kind: 'run', without: '/?#' }];

/** What each operator expands to (RFC 6570 §3.2.3 – 3.2.9). */
const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['+', () => [{ kind: 'run', without: '' }]],
  ['#', () => [{ kind: 'optional', first: '#', without: '' }]],
  ['.', () => [{ kind: 'optional', first: '.', without: '/?#' }]],
  ['/', segments],
  [';', (variables) => [pairs(variables, ';', ';', '/?#;')]],
  ['?', (variables) => [pairs(variables, '?', '&', '#&')]],
  ['&', (variables) => [pairs(variables, '&', '&', '#&')]],
]);

/** `/a/b` for `{/x,y}`: one segment each, any number of them when one is exploded. */
function segments(variables: readonly Variable[]): readonly Part[] {
  if (variables.some(({ isExploded }) => isExploded)) return [{ kind: 'optional', first: '/', without: '?#' }];
  return variables.map(() => ({ kind: 'optional', first: '/', without: '/?#' }));
}

function pairs(variables: readonly Variable[], first: string, separator: string, without: string): Part {
  const isOpen = variables.some(({ isExploded }) => isExploded); // `{?x*}` expands to the keys of x
  return { kind: 'pairs', first, separator, names: isOpen ? undefined : variables.map(({ name }) => name), without };
}
