import { Environment } from '@marcbachmann/cel-js';
import type { JsonValue } from '@toolmgr/core';
import { celValue } from './cel-value.ts';

const ENVIRONMENT = new Environment().registerVariable('self', 'dyn');

/**
 * Compiles a rule of a Kubernetes schema, which reads `self`. Rules are part of the product, so their patterns are not checked
 * for exponential time. A rule that cannot be evaluated is not satisfied, as for the API server.
 * @throws Error when the rule is no CEL expression
 */
export function compileRule(rule: string): (self: JsonValue) => boolean {
  const evaluate = ENVIRONMENT.parse(rule);
  return (self) => {
    try {
      return evaluate({ self: celValue(self) }) === true;
    } catch {
      return false;
    }
  };
}
