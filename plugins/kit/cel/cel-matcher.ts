import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import type { JsonObject } from '@toolmgr/core';
import isSafePattern from 'safe-regex2';
import { celValue } from './cel-value.ts';

const ENVIRONMENT = new Environment({ enableOptionalTypes: true }).registerVariable('claims', 'map');

/** Whether claims match. An evaluation error, such as a missing claim, is no match. */
export type Matcher = (claims: JsonObject) => boolean;

/**
 * Why an expression cannot be used; `undefined` when it can. A pattern of `matches` is a text in the expression and is
 * checked for exponential time, because it runs on values that callers choose. `maxLength`: in characters.
 */
export function matcherProblem(expression: string, maxLength: number): string | undefined {
  if (expression.length > maxLength) return `expected at most ${maxLength} characters`;
  try {
    const { valid, type, error } = ENVIRONMENT.check(expression);
    if (!valid) return `expected a CEL expression: ${firstLine(error)}`;
    if (type !== 'bool' && type !== 'dyn') return `expected a CEL expression that is true or false, got ${type}`;
    return patternProblem(ENVIRONMENT.parse(expression).ast);
  } catch (cause) {
    return `expected a CEL expression: ${firstLine(cause)}`;
  }
}

/** Compiles a checked expression. Whole numbers of the claims are CEL integers. */
export function compileMatcher(expression: string): Matcher {
  const evaluate = ENVIRONMENT.parse(expression);
  return (claims) => {
    try {
      return evaluate({ claims: celValue(claims) }) === true;
    } catch {
      return false;
    }
  };
}

function patternProblem(node: ASTNode): string | undefined {
  if (node.op === 'rcall' && node.args[0] === 'matches') {
    const [pattern] = node.args[2];
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
      return 'expected a text as the pattern of matches()';
    if (!isSafePattern(pattern.args)) return 'the pattern of matches() can take exponential time';
  }
  for (const child of childrenOf(node.args)) {
    const problem = patternProblem(child);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function childrenOf(args: unknown): readonly ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function firstLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.split('\n', 1)[0] ?? '';
}
