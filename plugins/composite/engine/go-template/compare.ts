import { type Budget, spendText } from './limits.ts';
import { ArgumentError } from './template-error.ts';
import { ANY_NUMBER, type TemplateFunction } from './template-function.ts';
import { compareText, floatOf, integerOf, type Kind, kindOf, typeName, type Value } from './value.ts';

/**
 * Go's comparisons; in addition, integers and floats compare by value.
 *
 * JSON does not distinguish `10` from `10.0`, so templates may use either. Source: docs/decisions/021.
 */
export const compareFunctions = {
  eq: {
    arity: [1, ANY_NUMBER],
    takes: 'any',
    run: ([first, ...others], budget) => {
      if (others.length === 0) throw new ArgumentError('missing argument for comparison');
      return others.some((other) => isEqual(first, other, budget));
    },
  },
  ne: { arity: [2, 2], takes: 'any', run: ([a, b], budget) => !isEqual(a, b, budget) },
  lt: { arity: [2, 2], takes: 'any', run: ([a, b], budget) => isLess(a, b, budget) },
  le: { arity: [2, 2], takes: 'any', run: ([a, b], budget) => isLess(a, b, budget) || isEqual(a, b, budget) },
  gt: { arity: [2, 2], takes: 'any', run: ([a, b], budget) => !(isLess(a, b, budget) || isEqual(a, b, budget)) },
  ge: { arity: [2, 2], takes: 'any', run: ([a, b], budget) => !isLess(a, b, budget) },
} as const satisfies Record<string, TemplateFunction>;

const BASIC: ReadonlySet<Kind> = new Set(['bool', 'int', 'float', 'string']);

function isEqual(a: Value, b: Value, budget: Budget): boolean {
  const [left, right] = [kindOf(a), kindOf(b)];
  if (left === 'none' || right === 'none') return left === right;
  if (!BASIC.has(left) && left === right) throw new ArgumentError(`non-comparable type ${typeName(a)}`);
  if (!BASIC.has(left) && !BASIC.has(right)) {
    throw new ArgumentError(`non-comparable types ${typeName(a)}, ${typeName(b)}`);
  }
  if (isNumeric(left) && isNumeric(right)) return isSameNumber(numberOf(a, left), numberOf(b, right));
  if (left !== right) throw incompatible(a, b);
  if (left === 'string') spendText(budget, Math.min((a as string).length, (b as string).length));
  return a === b;
}

function isLess(a: Value, b: Value, budget: Budget): boolean {
  const [left, right] = [kindOf(a), kindOf(b)];
  if (!BASIC.has(left) || !BASIC.has(right)) throw new ArgumentError('invalid type for comparison');
  if (isNumeric(left) && isNumeric(right)) return numberOf(a, left) < numberOf(b, right);
  if (left !== right) throw incompatible(a, b);
  if (left !== 'string') throw new ArgumentError('invalid type for comparison');
  spendText(budget, Math.min((a as string).length, (b as string).length));
  return compareText(a as string, b as string) < 0;
}

function isNumeric(kind: Kind): boolean {
  return kind === 'int' || kind === 'float';
}

function numberOf(value: Value, kind: Kind): bigint | number {
  return kind === 'int' ? integerOf(value) : floatOf(value);
}

/** A bigint and a number compare exactly with `<` and `>`, but are never `===`. */
function isSameNumber(a: bigint | number, b: bigint | number): boolean {
  return !(a < b) && !(a > b);
}

function incompatible(a: Value, b: Value): ArgumentError {
  return new ArgumentError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`);
}
