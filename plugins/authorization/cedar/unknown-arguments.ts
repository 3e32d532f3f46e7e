import type { Clause, Expr, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { nodeOf, readsArguments } from './expression.ts';

/** Whether a policy may decide otherwise for other arguments. */
export function dependsOnArguments({ conditions }: PolicyJson): boolean {
  return conditions.some(({ body }) => readsArguments(body));
}

/**
 * A policy as lists ask it, when nobody knows the arguments of a later call: what they could do in the caller's favour,
 * they do. Every part that reads an argument becomes true where that helps and false where it would hurt, so a permit
 * may be satisfied by some call, and a forbid only where no call escapes it.
 *
 * Shape: reads no argument any more; the same policy when it never did.
 */
export function withUnknownArguments(policy: PolicyJson): PolicyJson {
  if (!dependsOnArguments(policy)) return policy;
  const isHelped = policy.effect === 'permit';
  return { ...policy, conditions: policy.conditions.map((clause) => assumed(clause, isHelped)) };
}

function assumed({ kind, body }: Clause, isHelped: boolean): Clause {
  return { kind, body: assume(body, kind === 'when' ? isHelped : !isHelped) };
}

/** The most (`wanted` true) or the least that an expression could come to. */
function assume(expression: Expr, wanted: boolean): Expr {
  if (!readsArguments(expression)) return expression;
  const node = nodeOf(expression);
  const both = node?.body as { readonly left: Expr; readonly right: Expr };
  if (node?.op === '&&') return { '&&': { left: assume(both.left, wanted), right: assume(both.right, wanted) } };
  if (node?.op === '||') return { '||': { left: assume(both.left, wanted), right: assume(both.right, wanted) } };
  if (node?.op === '!') return { '!': { arg: assume((node.body as { readonly arg: Expr }).arg, !wanted) } };
  if (node?.op === 'if-then-else') {
    const { if: condition, then, else: otherwise } = node.body as Readonly<Record<'if' | 'then' | 'else', Expr>>;
    if (!readsArguments(condition)) {
      const first: Expr = { '&&': { left: condition, right: assume(then, wanted) } };
      const second: Expr = { '&&': { left: { '!': { arg: condition } }, right: assume(otherwise, wanted) } };
      return { '||': { left: first, right: second } };
    }
  }
  return { Value: wanted };
}
