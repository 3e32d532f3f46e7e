import { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '@toolmgr/core';
import { pipelineValue, type Run, type Scope, setTop, setVariable } from './evaluate-pipeline.ts';
import { MAX_DEPTH, MAX_OUTPUT_BYTES, spend, spendTurn } from './limits.ts';
import { printed } from './print-value.ts';
import { ArgumentError, LimitError } from './template-error.ts';
import type { Node } from './tree.ts';
import { integerOf, itemOf, type Kind, keysOf, kindOf, memberOf, truth, typeName, type Value } from './value.ts';

/** Why a body ended before its last node. */
type Jump = 'break' | 'continue' | undefined;

/** Evaluates nodes in order and appends their output to `run.pieces`. @throws ArgumentError, LimitError */
export function walk(run: Run, scope: Scope, nodes: readonly Node[]): Jump {
  for (const node of nodes) {
    run.at = node.at;
    spend(run.budget);
    const jump = walkNode(run, scope, node);
    if (jump !== undefined) return jump;
  }
  return undefined;
}

function walkNode(run: Run, scope: Scope, node: Node): Jump {
  switch (node.kind) {
    case 'text':
      return write(run, node.text);
    case 'action': {
      const value = pipelineValue(run, scope, node.pipeline);
      return node.pipeline.variables.length > 0 ? undefined : write(run, printed(value, run.budget));
    }
    case 'template':
      return walkTemplate(run, scope, node);
    case 'if':
    case 'with':
      return scoped(run, scope, () => walkBranches(run, scope, node));
    case 'range':
      return scoped(run, scope, () => walkRange(run, scope, node));
    default:
      return node.kind;
  }
}

/** Runs one level deeper and removes the variables declared there. */
function scoped(run: Run, scope: Scope, walkInside: () => Jump): Jump {
  const mark = scope.variables.length;
  const jump = deeper(run, walkInside);
  scope.variables.length = mark;
  return jump;
}

function deeper(run: Run, walkInside: () => Jump): Jump {
  run.depth += 1;
  if (run.depth > MAX_DEPTH) throw new LimitError(`exceeded maximum template depth (${MAX_DEPTH})`);
  const jump = walkInside();
  run.depth -= 1;
  return jump;
}

function write(run: Run, text: string): undefined {
  run.budget.outputBytes -= Buffer.byteLength(text);
  if (run.budget.outputBytes < 0) throw new LimitError(`more than ${MAX_OUTPUT_BYTES} bytes of output`);
  run.pieces.push(text);
}

function walkTemplate(run: Run, scope: Scope, { name, pipeline }: Extract<Node, { kind: 'template' }>): Jump {
  const nodes = run.templates.get(name);
  if (nodes === undefined) throw new ArgumentError(`template "${name}" not defined`);
  const dot = pipeline === undefined ? undefined : pipelineValue(run, scope, pipeline);
  return deeper(run, () => walk(run, { dot, variables: [{ name: '$', value: dot }] }, nodes));
}

function walkBranches(run: Run, scope: Scope, node: Extract<Node, { kind: 'if' | 'with' }>): Jump {
  for (const { pipeline, body } of node.branches) {
    const value = pipelineValue(run, scope, pipeline);
    if (!truth(value, run.budget)) continue;
    return walk(run, node.kind === 'with' ? { ...scope, dot: value } : scope, body);
  }
  return walk(run, scope, node.otherwise);
}

type Range = Extract<Node, { kind: 'range' }>;

function walkRange(run: Run, scope: Scope, node: Range): Jump {
  const value = pipelineValue(run, scope, node.pipeline);
  const iteration = turnsOf(run, node, value);
  if (iteration === undefined) return walk(run, scope, node.otherwise);
  const mark = scope.variables.length;
  const inner: { dot: Value; variables: Scope['variables'] } = { dot: undefined, variables: scope.variables };
  for (let turn = 0; turn < iteration.count; turn++) {
    run.at = node.at;
    spendTurn(run.budget);
    inner.dot = iteration.element(turn);
    setLoopVariables(scope, node, iteration.key(turn), inner.dot);
    const jump = walk(run, inner, node.body);
    scope.variables.length = mark;
    if (jump === 'break') break;
  }
  return undefined;
}

interface Turns {
  readonly count: number;
  key(turn: number): Value;
  element(turn: number): Value;
}

/** The iterations of a loop; `undefined` when there are none. */
function turnsOf(run: Run, node: Range, value: Value): Turns | undefined {
  const turns = TURNS[kindOf(value)];
  if (turns === undefined) throw new ArgumentError(`range can't iterate over a value of type ${typeName(value)}`);
  const found = turns(value, run, node);
  return found.count > 0 ? found : undefined;
}

const TURNS: Readonly<Partial<Record<Kind, (value: Value, run: Run, node: Range) => Turns>>> = {
  none: () => ({ count: 0, key: () => undefined, element: () => undefined }),
  list: (value) => {
    const list = value as readonly JsonValue[];
    return { count: list.length, key: (turn) => BigInt(turn), element: (turn) => itemOf(list, turn) };
  },
  map: (value, run) => {
    const map = value as JsonObject;
    const keys = keysOf(map, run.budget);
    const keyAt = (turn: number): string => keys[turn] ?? '';
    return { count: keys.length, key: keyAt, element: (turn) => memberOf(map, keyAt(turn)) ?? null };
  },
  int: (value, _run, node) => {
    if (node.pipeline.variables.length > 1) {
      throw new ArgumentError(`can't use ${integerOf(value)} to iterate over more than one variable`);
    }
    const asBig = typeof value === 'bigint';
    return {
      count: Number(integerOf(value)),
      key: () => undefined,
      element: (turn) => (asBig ? BigInt(turn) : turn),
    };
  },
};

function setLoopVariables(scope: Scope, { pipeline }: Range, key: Value, element: Value): void {
  const [first, second] = pipeline.variables;
  if (first === undefined) return;
  if (second === undefined) {
    if (pipeline.isAssignment) setVariable(scope, first, element);
    else setTop(scope, 1, element);
    return;
  }
  if (pipeline.isAssignment) {
    setVariable(scope, first, key);
    setVariable(scope, second, element);
    return;
  }
  setTop(scope, 1, element);
  setTop(scope, 2, key);
}
