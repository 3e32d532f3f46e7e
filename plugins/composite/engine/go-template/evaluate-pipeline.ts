import type { JsonObject } from '@toolmgr/core';
import { type Budget, spend } from './limits.ts';
import { ArgumentError } from './template-error.ts';
import type { TemplateFunction } from './template-function.ts';
import type { Command, Literal, Operand, Pipeline, Templates } from './tree.ts';
import { Float, kindOf, memberOf, truth, typeName, type Value } from './value.ts';

/** The state of one rendering; `at` is the current offset, for errors. */
export interface Run {
  readonly templates: Templates;
  readonly functions: Readonly<Record<string, TemplateFunction>>;
  readonly budget: Budget;
  readonly pieces: string[];
  depth: number;
  at: number;
}

/** Names in scope: the dot, and the variables of this template, innermost last. */
export interface Scope {
  readonly dot: Value;
  readonly variables: { readonly name: string; value: Value }[];
}

/** Evaluates a pipeline, and declares or sets its variables. @throws ArgumentError, LimitError */
export function pipelineValue(run: Run, scope: Scope, pipeline: Pipeline): Value {
  let value: Value;
  let isPiped = false;
  for (const command of pipeline.commands) {
    // Go: a nil in a pipeline becomes no value
    value = runCommand(run, scope, command, isPiped ? [value] : []) ?? undefined;
    isPiped = true;
  }
  run.at = pipeline.at;
  for (const name of pipeline.variables) {
    if (pipeline.isAssignment) setVariable(scope, name, value);
    else scope.variables.push({ name, value });
  }
  return value;
}

/** Sets the innermost variable with this name. */
export function setVariable(scope: Scope, name: string, value: Value): void {
  findVariable(scope, name).value = value;
}

/** Sets a variable by its position from the top of the stack, counted from 1. */
export function setTop({ variables }: Scope, fromTop: number, value: Value): void {
  const variable = variables[variables.length - fromTop];
  if (variable !== undefined) variable.value = value;
}

function findVariable({ variables }: Scope, name: string): { value: Value } {
  const found = variables.findLast((variable) => variable.name === name);
  if (found === undefined) throw new ArgumentError(`undefined variable: ${name}`);
  return found;
}

/** `piped` is empty, or the value of the previous command, which becomes the last argument. */
function runCommand(run: Run, scope: Scope, { operands, at }: Command, piped: readonly Value[]): Value {
  run.at = at;
  spend(run.budget);
  const [first, ...others] = operands;
  if (first.kind === 'call' && first.fields.length === 0) return call(run, scope, first, others, piped);
  if (first.kind === 'nil') throw new ArgumentError('nil is not a command');
  const hasArguments = others.length + piped.length > 0;
  if (hasArguments && !('fields' in first && first.fields.length > 0)) {
    throw new ArgumentError("can't give argument to non-function");
  }
  return operandValue(run, scope, first, hasArguments);
}

function operandValue(run: Run, scope: Scope, operand: Operand, hasArguments: boolean): Value {
  run.at = operand.at;
  switch (operand.kind) {
    case 'literal':
      return literalValue(operand.literal);
    case 'dot':
      return scope.dot;
    case 'nil':
      return undefined;
    case 'field':
      return fieldOf(run, operand, scope.dot, hasArguments);
    case 'variable':
      return fieldOf(run, operand, findVariable(scope, operand.name).value, hasArguments);
    case 'call':
      return fieldOf(run, operand, call(run, scope, operand, [], []), hasArguments);
    case 'pipeline':
      return fieldOf(run, operand, pipelineValue(run, scope, operand.pipeline), hasArguments);
  }
}

function literalValue(literal: Literal): Value {
  return literal.type === 'float' ? new Float(literal.value) : literal.value;
}

type WithFields = Extract<Operand, { readonly fields: readonly string[] }>;

/** Reads `.a.b` of a value. A field of no value is no value; a field of a nil in the data is an error. */
function fieldOf(run: Run, { fields, at }: WithFields, from: Value, hasArguments: boolean): Value {
  run.at = at;
  let value = from;
  for (const [index, name] of fields.entries()) {
    if (value === undefined) return undefined;
    if (value === null) throw new ArgumentError(`nil pointer evaluating interface {}.${name}`);
    if (kindOf(value) !== 'map') throw new ArgumentError(`can't evaluate field ${name} in type ${typeName(value)}`);
    if (hasArguments && index === fields.length - 1) {
      throw new ArgumentError(`${name} is not a method but has arguments`);
    }
    value = memberOf(value as JsonObject, name);
  }
  return value;
}

type Call = Extract<Operand, { readonly kind: 'call' }>;

function call(
  run: Run,
  scope: Scope,
  { name, at }: Call,
  operands: readonly Operand[],
  piped: readonly Value[],
): Value {
  run.at = at;
  spend(run.budget);
  const count = operands.length + piped.length;
  if (name === 'and' || name === 'or') {
    if (count === 0) throw new ArgumentError(`wrong number of args for ${name}: want at least 1 got 0`);
    return untilTruth(run, scope, operands, piped, name === 'or');
  }
  const called = run.functions[name];
  if (called === undefined) throw new ArgumentError(`"${name}" is not a defined function`);
  expectArity(name, called, count);
  const values = [...operands.map((word) => operandValue(run, scope, word, false)), ...piped];
  run.at = at;
  if (called.takes === 'first') expectText(name, values[0]);
  try {
    return called.run(values, run.budget);
  } catch (cause) {
    if (!(cause instanceof ArgumentError)) throw cause;
    throw new ArgumentError(`error calling ${name}: ${cause.message}`, { cause });
  }
}

/** `and`, `or`: the first argument that decides, else the last one; later arguments are not evaluated. */
function untilTruth(
  run: Run,
  scope: Scope,
  operands: readonly Operand[],
  piped: readonly Value[],
  stopsAt: boolean,
): Value {
  let value: Value;
  for (const word of operands) {
    value = operandValue(run, scope, word, false);
    if (truth(value, run.budget) === stopsAt) return value;
  }
  return piped.length > 0 ? piped[0] : value;
}

function expectArity(name: string, { arity: [least, most] }: TemplateFunction, count: number): void {
  if (count >= least && count <= most) return;
  const want = least === most ? `${least}` : `at least ${least}`;
  throw new ArgumentError(`wrong number of args for ${name}: want ${want} got ${count}`);
}

function expectText(name: string, value: Value): void {
  if (typeof value === 'string') return;
  throw new ArgumentError(`wrong type for value of ${name}; expected string; got ${typeName(value)}`);
}
