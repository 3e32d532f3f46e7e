import type { AddedRoots, CompiledStep, JsonObject, StepType } from '@toolmgr/core';
import { explainIssues, nearest } from '@toolmgr/core';
import { z } from 'zod';
import { type Policy, policyFrom } from './attempts.ts';
import { type Condition, conditionFrom } from './condition.ts';
import { commonStepKeys, type StepDefinition } from './definition-schema.ts';
import { MAX_QUESTION_MS, MAX_RETRIES } from './limits.ts';
import type { Problems } from './problem.ts';
import { createTemplateReader, type LocatedTemplate } from './templates.ts';

/** A compiled step with its condition and error policy. */
export interface WorkflowStep {
  readonly id: string;
  readonly type: string;
  readonly compiled: CompiledStep;
  readonly condition: Condition | undefined;
  readonly policy: Policy;
  readonly defaults: JsonObject | undefined;
  /** Names of the tools it calls, as configured. */
  readonly tools: readonly string[];
}

/** The result of compiling a step; `step` is absent when it has problems. */
export interface CompiledStepDefinition {
  readonly step: WorkflowStep | undefined;
  readonly located: readonly LocatedTemplate[];
  /** Settings that are valid but have no or another effect. */
  readonly warnings: readonly string[];
}

/** Looks up a step type; `undefined` when it is unknown. */
export type StepTypes = (type: string) => StepType | undefined;

const COMMON = Object.keys(commonStepKeys);

/** Compiles one step of a definition. The caller decides what an unknown type means. */
export function compileStep(definition: StepDefinition, types: StepTypes, problems: Problems): CompiledStepDefinition {
  const type = typeOf(definition, problems);
  const reader = createTemplateReader(problems);
  const { id, condition, onError, defaultResults } = definition;
  checkRetry(definition, problems);
  const compiledCondition =
    condition === undefined ? undefined : conditionFrom(condition, reader.text(condition, ['condition']));
  const stepType = types(type);
  const options = stepType === undefined ? undefined : readOptions(definition, type, stepType, problems);
  if (stepType === undefined || options === undefined)
    return { step: undefined, located: reader.located, warnings: [] };
  const tools: string[] = [];
  const compiled = stepType.compile(options.given, {
    id,
    onError: onError?.action ?? 'abort',
    template: (text, path, adds?: AddedRoots) => reader.text(text, path, adds),
    templates: (value, path, adds?: AddedRoots) => reader.value(value, path, adds),
    tool: (name) => void tools.push(name),
    problem: (path, message) => problems.add(path, message),
  });
  const policy = withOwnTimeout(policyFrom(definition), definition, compiled);
  const step = { id, type, compiled, condition: compiledCondition, policy, defaults: defaultResults, tools };
  return { step, located: reader.located, warnings: warningsOf(definition, compiled) };
}

/** The configured type; `tool` by default. */
function typeOf({ type, tool, message }: StepDefinition, problems: Problems): string {
  if (type === undefined && tool !== undefined && message !== undefined) {
    problems.add(['type'], 'missing, expected tool or elicitation: the step has both a tool and a message');
  }
  return type ?? 'tool';
}

function checkRetry({ onError }: StepDefinition, problems: Problems): void {
  if (onError === undefined) return;
  const { action, retryCount, retryDelay } = onError;
  if (action === 'retry') {
    if (retryCount === undefined) problems.add(['onError', 'retryCount'], 'missing, expected an integer of 1 or more');
    return;
  }
  if (retryCount !== undefined)
    problems.add(['onError', 'retryCount'], `has no effect with action ${action}; expected action retry`);
  if (retryDelay !== undefined)
    problems.add(['onError', 'retryDelay'], `has no effect with action ${action}; expected action retry`);
}

/** A step type that manages its timeout brings its own default and maximum. */
function withOwnTimeout(policy: Policy, { timeout }: StepDefinition, { keepsTime }: CompiledStep): Policy {
  if (keepsTime === undefined) return policy;
  return { ...policy, timeoutMs: Math.min(timeout ?? keepsTime.defaultMs, keepsTime.maxMs) };
}

function warningsOf({ id, timeout, onError }: StepDefinition, { keepsTime }: CompiledStep): string[] {
  return [
    ...(keepsTime !== undefined && timeout !== undefined && timeout > keepsTime.maxMs
      ? [`step ${id}: timeout is more than ${keepsTime.maxMs ?? MAX_QUESTION_MS} ms, which is used instead`]
      : []),
    ...(onError?.retryCount !== undefined && onError.retryCount > MAX_RETRIES
      ? [`step ${id}: retryCount is more than ${MAX_RETRIES}, which is used instead`]
      : []),
  ];
}

/** Parses the keys of the step type with its own schema. */
function readOptions(
  definition: StepDefinition,
  type: string,
  { options }: StepType,
  problems: Problems,
): { readonly given: unknown } | undefined {
  const own = Object.fromEntries(Object.entries(definition).filter(([key]) => !COMMON.includes(key)));
  const read = options.safeParse(own);
  if (read.success) return { given: read.data };
  for (const issue of read.error.issues) {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) problems.add([...path, key], unknownKey(key, type, path.length === 0, options));
      continue;
    }
    for (const sentence of explainIssues('', options, new z.ZodError([issue]))) {
      problems.add(path, missingOr(sentence, issue, own));
    }
  }
  return undefined;
}

function unknownKey(key: string, type: string, isTop: boolean, options: z.ZodType): string {
  const known = options instanceof z.ZodObject && isTop ? [...COMMON, ...Object.keys(options.shape)] : [];
  const hint = nearest(key, known);
  const advice =
    hint === undefined ? (known.length === 0 ? '' : ` (known: ${known.join(', ')})`) : `, did you mean "${hint}"?`;
  return `a step of type ${type} has no key "${key}"${advice}`;
}

/** The message without its path; says "missing" for an absent key instead of "wrong type". */
function missingOr(sentence: string, issue: z.core.$ZodIssue, own: object): string {
  const [first] = issue.path;
  if (issue.code === 'invalid_type' && issue.path.length === 1 && !Object.hasOwn(own, first ?? '')) {
    return `missing, expected ${WORDS[issue.expected] ?? issue.expected}`;
  }
  const end = sentence.indexOf(': ');
  return end === -1 ? sentence : sentence.slice(end + 2);
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  record: 'a map',
  object: 'a section',
  array: 'a list',
};
