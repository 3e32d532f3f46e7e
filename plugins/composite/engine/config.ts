import { nearest } from '@toolmgr/core';
import { z } from 'zod';
import { compileWorkflow } from './compile-workflow.ts';
import { type CompositeDefinition, compositeToolOf } from './definition-schema.ts';
import { collectProblems, type Problem, type Problems } from './problem.ts';
import { STEP_TYPES } from './step-types.ts';
import { typedStep } from './typed-step.ts';

/** The plugin's configuration: the contract's section, and where suspended workflows are kept. */
export const compositeConfig = z.strictObject({
  compositeTools: z
    .array(compositeToolOf(typedStep))
    .default([])
    .superRefine((definitions, context) => {
      const found: Problem[] = [];
      checkDefinitions(definitions, collectProblems(found));
      for (const { path, message } of found) context.addIssue({ code: 'custom', path: [...path], message });
    })
    .describe('workflows that are listed as tools'),
  store: z
    .string()
    .min(1)
    .optional()
    .describe('name of the store for suspended workflows; without it they are kept in this process'),
  waiting: z
    .strictObject({
      workflows: z
        .int()
        .min(1)
        .default(1_000)
        .describe(
          'suspended workflows in this process; above it the oldest one of the caller with the most is dropped',
        ),
      workflowsPerCaller: z
        .int()
        .min(1)
        .default(100)
        .describe('suspended workflows of one caller; above it its oldest one is dropped'),
      bytes: z.int().min(1).default(67_108_864).describe('bytes of all suspended workflows in this process'),
      bytesPerCaller: z
        .int()
        .min(1)
        .default(50_331_648)
        .describe('bytes of the suspended workflows of one caller in this process; above it its oldest one is dropped'),
    })
    .prefault({})
    .describe('bounds of suspended workflows'),
});

/** Bounds of suspended workflows, in all and per caller. */
export type WaitingLimits = z.output<typeof compositeConfig>['waiting'];

/** The parsed configuration of the plugin. */
export type CompositeConfig = z.output<typeof compositeConfig>;

/** Checks the definitions as far as possible without the step types of other plugins. */
function checkDefinitions(definitions: readonly CompositeDefinition[], problems: Problems): void {
  for (const [index, definition] of definitions.entries()) {
    const here = problems.under(index);
    const first = definitions.findIndex(({ name }) => name === definition.name);
    if (first !== index)
      here.add(
        ['name'],
        `"${definition.name}" is already the name of compositeTools[${first}]; expected a unique name`,
      );
    const { unknownTypes } = compileWorkflow(definition, (type) => STEP_TYPES.get(type), here);
    for (const unknown of unknownTypes) {
      // other plugins may register this type until the start; a misspelled built-in type is an error now
      const hint = nearest(unknown.type, [...STEP_TYPES.keys()]);
      if (hint !== undefined)
        here.add(['steps', unknown.index, 'type'], `no step type is named "${unknown.type}", did you mean "${hint}"?`);
    }
  }
  checkCircles(definitions, problems);
}

/** A composite tool that calls itself, directly or through others, would never end. */
function checkCircles(definitions: readonly CompositeDefinition[], problems: Problems): void {
  const calls = new Map(definitions.map((definition) => [definition.name, calledBy(definition)]));
  const done = new Set<string>();
  const walk = (name: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of calls.get(name) ?? []) {
      const circle = walk(next, [...trail, name]);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const [index, { name }] of definitions.entries()) {
    const circle = walk(name, []);
    if (circle?.[0] !== name) continue;
    problems.add([index, 'steps'], `composite tools call each other in a cycle: ${circle.join(' -> ')}`);
    return;
  }
}

function calledBy({ steps }: CompositeDefinition): string[] {
  return steps
    .flatMap((step) => [
      step.tool,
      typeof step.step === 'object' && step.step !== null ? (step.step as { tool?: unknown }).tool : undefined,
    ])
    .filter((tool) => typeof tool === 'string');
}
