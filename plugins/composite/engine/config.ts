import { nearest } from '@toolmgr/core';
import { z } from 'zod';
import { compileWorkflow } from './compile-workflow.ts';
import { type CompositeDefinition, compositeTool } from './definition.ts';
import { collectProblems, type Problem, type Problems } from './problem.ts';
import { STEP_TYPES } from './step-types.ts';

/** What the plugin reads: the contract's section, and where waiting workflows are kept. */
export const compositeConfig = z.strictObject({
  compositeTools: z
    .array(compositeTool)
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
    .describe('name of the store in which workflows wait for an answer; this process when left out'),
  waiting: z
    .strictObject({
      workflows: z
        .int()
        .min(1)
        .default(1_000)
        .describe('workflows that wait in this process; over it the oldest of the caller with the most goes'),
      workflowsPerCaller: z
        .int()
        .min(1)
        .default(100)
        .describe('workflows of one caller that wait, here or in the store; over it its oldest goes'),
      bytes: z.int().min(1).default(67_108_864).describe('bytes of all workflows that wait in this process'),
      bytesPerCaller: z
        .int()
        .min(1)
        .default(50_331_648)
        .describe('bytes of the workflows of one caller that wait in this process; over it its oldest goes'),
    })
    .prefault({})
    .describe('bounds of what waits for an answer'),
});

/** How much may wait, of all callers and of one. */
export type WaitingLimits = z.output<typeof compositeConfig>['waiting'];

/** What the plugin was told. */
export type CompositeConfig = z.output<typeof compositeConfig>;

/** Everything about the definitions that can be known before the plugins of a plan are there. */
function checkDefinitions(definitions: readonly CompositeDefinition[], problems: Problems): void {
  for (const [index, definition] of definitions.entries()) {
    const here = problems.under(index);
    const first = definitions.findIndex(({ name }) => name === definition.name);
    if (first !== index)
      here.add(
        ['name'],
        `"${definition.name}" is the name of compositeTools[${first}] too; expected names that differ`,
      );
    const { unknownTypes } = compileWorkflow(definition, (type) => STEP_TYPES.get(type), here);
    for (const unknown of unknownTypes) {
      // a word of a plugin is looked up at the start; a slip in one of ours is one now
      const hint = nearest(unknown.type, [...STEP_TYPES.keys()]);
      if (hint !== undefined)
        here.add(['steps', unknown.index, 'type'], `no step type is named "${unknown.type}", did you mean "${hint}"?`);
    }
  }
  checkCircles(definitions, problems);
}

/** A composite that calls itself, by way of others or not, would never end. */
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
    problems.add([index, 'steps'], `composite tools call each other in a circle: ${circle.join(' -> ')}`);
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
