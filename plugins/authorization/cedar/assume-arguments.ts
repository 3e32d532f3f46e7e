import type { Clause, Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { nodeOf, readsArguments } from './references.ts';

/** Whether the decision of a policy may depend on arguments. */
export function dependsOnArguments({ conditions }: PolicyJson): boolean {
  return conditions.some(({ body }) => readsArguments(body));
}

/**
 * The form of a policy for lists, where arguments are unknown. Every part that reads an argument gets the value that is best
 * for the caller. So a permit applies when some call could satisfy it, and a forbid only when no call could avoid it.
 *
 * Shape: reads no arguments; the same policy when it read none before.
 */
export function withUnknownArguments(policy: PolicyJson): PolicyJson {
  if (!dependsOnArguments(policy)) return policy;
  const isPermit = policy.effect === 'permit';
  return { ...policy, conditions: policy.conditions.map((clause) => assumeClause(clause, isPermit)) };
}

function assumeClause({ kind, body }: Clause, isPermit: boolean): Clause {
  return { kind, body: assume(body, kind === 'when' ? isPermit : !isPermit) };
}

/** The largest (true) or smallest (false) value that an expression could have. */
function assume(expression: Expr, assumedValue: boolean): Expr {
  if (!readsArguments(expression)) return expression;
  const node = nodeOf(expression);
  const both = node?.body as { readonly left: Expr; readonly right: Expr };
  if (node?.op === '&&')
    return { '&&': { left: assume(both.left, assumedValue), right: assume(both.right, assumedValue) } };
  if (node?.op === '||')
    return { '||': { left: assume(both.left, assumedValue), right: assume(both.right, assumedValue) } };
  if (node?.op === '!') return { '!': { arg: assume((node.body as { readonly arg: Expr }).arg, !assumedValue) } };
  if (node?.op === 'if-then-else') {
    const { if: condition, then, else: otherwise } = node.body as Readonly<Record<'if' | 'then' | 'else', Expr>>;
    if (!readsArguments(condition)) {
      const first: Expr = { '&&': { left: condition, right: assume(then, assumedValue) } };
      const second: Expr = { '&&': { left: { '!': { arg: condition } }, right: assume(otherwise, assumedValue) } };
      return { '||': { left: first, right: second } };
    }
  }
  return { Value: assumedValue };
}
