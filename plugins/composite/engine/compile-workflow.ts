import { createHash } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { checkReferences } from './check-references.ts';
import { compileStep, type StepTypes, type WorkflowStep } from './compile-step.ts';
import type { CompositeDefinition } from './definition-schema.ts';
import { orderSteps } from './order-steps.ts';
import { compileOutput, type Output } from './output.ts';
import { compileParameters, type Parameters } from './parameters.ts';
import type { Problems } from './problem.ts';
import { createTemplateReader } from './templates.ts';

/** A compiled composite tool, ready to be listed and run. */
export interface Workflow {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: Parameters;
  readonly timeoutMs: number;
  /** Whether authorization and rate limits also apply to every step. */
  readonly authorizesSteps: boolean;
  readonly levels: readonly (readonly WorkflowStep[])[];
  readonly stepCount: number;
  readonly output: Output | undefined;
  /** Names of all tools that its steps call. */
  readonly tools: readonly string[];
  /** Hash of the definition: a suspended workflow resumes only with the same definition. */
  readonly digest: string;
}

/** The result of compiling. `workflow` is absent when there are problems or unknown step types. */
export interface CompiledDefinition {
  readonly workflow: Workflow | undefined;
  /** Steps whose type is not registered. */
  readonly unknownTypes: readonly { readonly index: number; readonly type: string }[];
  readonly warnings: readonly string[];
}

/** Compiles one definition and makes every check that needs no call. */
export function compileWorkflow(
  definition: CompositeDefinition,
  types: StepTypes,
  problems: Problems,
): CompiledDefinition {
  let isValid = true;
  const observedProblems: Problems = observed(problems, () => {
    isValid = false;
  });
  const parameters = compileParameters(definition.parameters as JsonObject | undefined, observedProblems);
  const order = orderSteps(definition.steps, observedProblems);
  const readings = definition.steps.map((step, index) =>
    compileStep(step, types, observedProblems.under('steps', index)),
  );
  const outputReader = createTemplateReader(observedProblems);
  const output =
    definition.output === undefined
      ? undefined
      : compileOutput(definition.output, outputReader, observedProblems.under('output'));
  if (order !== undefined) {
    for (const [index, step] of definition.steps.entries()) {
      const context = { step, parameters: parameters.names };
      checkReferences(
        readings[index]?.located ?? [],
        definition.steps,
        order,
        context,
        observedProblems.under('steps', index),
      );
    }
    const context = { step: undefined, parameters: parameters.names };
    checkReferences(outputReader.located, definition.steps, order, context, observedProblems);
  }
  const unknownTypes = definition.steps.flatMap(({ type }, index) =>
    type !== undefined && types(type) === undefined ? [{ index, type }] : [],
  );
  const warnings = readings.flatMap((reading) => reading.warnings).map((words) => `${definition.name}: ${words}`);
  const steps = readings.flatMap(({ step }) => (step === undefined ? [] : [step]));
  if (!isValid || order === undefined || steps.length !== readings.length)
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

function observed(problems: Problems, found: () => void): Problems {
  return {
    add(path, message) {
      found();
      problems.add(path, message);
    },
    under: (...path) => observed(problems.under(...path), found),
  };
}
