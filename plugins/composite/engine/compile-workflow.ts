import { createHash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { checkReferences } from './check-references.ts';
import { compileStep, type StepTypes, type WorkflowStep } from './compile-step.ts';
import type { CompositeDefinition } from './definition.ts';
import { orderSteps } from './levels.ts';
import { compileOutput, type Output } from './output.ts';
import { compileParameters, type Parameters } from './parameters.ts';
import type { Problems } from './problem.ts';
import { createTemplateReader } from './templates.ts';

/** A composite tool, compiled: what is needed to list it and to run it. */
export interface Workflow {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: Parameters;
  readonly timeoutMs: number;
  /** Policy and limits decide every step too. */
  readonly authorizesSteps: boolean;
  readonly levels: readonly (readonly WorkflowStep[])[];
  readonly stepCount: number;
  readonly output: Output | undefined;
  /** Names of all tools that its steps call. */
  readonly tools: readonly string[];
  /** Of the definition: a workflow that waits goes on only with the same one. */
  readonly digest: string;
}

/** What compiling came to. `workflow` is absent when there are problems, or a step of a type that is not known here. */
export interface WorkflowReading {
  readonly workflow: Workflow | undefined;
  /** Places of steps whose type nobody knows here. */
  readonly unknownTypes: readonly { readonly index: number; readonly type: string }[];
  readonly warnings: readonly string[];
}

/** Compiles one definition; everything that can be known before a call is checked here. */
export function compileWorkflow(
  definition: CompositeDefinition,
  types: StepTypes,
  problems: Problems,
): WorkflowReading {
  let isSound = true;
  const watched: Problems = watching(problems, () => {
    isSound = false;
  });
  const parameters = compileParameters(definition.parameters as JsonObject | undefined, watched);
  const order = orderSteps(definition.steps, watched);
  const readings = definition.steps.map((step, index) => compileStep(step, types, watched.under('steps', index)));
  const outputReader = createTemplateReader(watched);
  const output =
    definition.output === undefined
      ? undefined
      : compileOutput(definition.output, outputReader, watched.under('output'));
  if (order !== undefined) {
    for (const [index, step] of definition.steps.entries()) {
      const around = { step, parameters: parameters.names };
      checkReferences(readings[index]?.placed ?? [], definition.steps, order, around, watched.under('steps', index));
    }
    const around = { step: undefined, parameters: parameters.names };
    checkReferences(outputReader.placed, definition.steps, order, around, watched);
  }
  const unknownTypes = definition.steps.flatMap(({ type }, index) =>
    type !== undefined && types(type) === undefined ? [{ index, type }] : [],
  );
  const warnings = readings.flatMap((reading) => reading.warnings).map((words) => `${definition.name}: ${words}`);
  const steps = readings.flatMap(({ step }) => (step === undefined ? [] : [step]));
  if (!isSound || order === undefined || steps.length !== readings.length)
    return { workflow: undefined, unknownTypes, warnings };
  const workflow: Workflow = {
    name: definition.name,
    description: definition.description,
    parameters,
    timeoutMs: definition.timeout,
    authorizesSteps: definition.authorizeSteps,
    levels: order.levels.map((level) => level.map((index) => steps[index] as WorkflowStep)),
    stepCount: steps.length,
    output,
    tools: [...new Set(steps.flatMap(({ tools }) => tools))],
    digest: createHash('sha256').update(JSON.stringify(definition)).digest('base64url'),
  };
  return { workflow, unknownTypes, warnings };
}

function watching(problems: Problems, found: () => void): Problems {
  return {
    add(path, message) {
      found();
      problems.add(path, message);
    },
    under: (...path) => watching(problems.under(...path), found),
  };
}
