import { nearest } from '@toolmgr/core';
import type { StepDefinition } from './definition-schema.ts';
import { type Order, unknownStep } from './order-steps.ts';
import type { Problems } from './problem.ts';
import type { LocatedTemplate } from './templates.ts';

/** Where a template is used. */
export interface TemplateContext {
  /** The step that contains the template; `undefined` for the workflow's output. */
  readonly step: StepDefinition | undefined;
  /** Names of the declared parameters; `undefined` when callers may send others. */
  readonly parameters: readonly string[] | undefined;
}

const ROOTS = ['params', 'steps', 'workflow', 'vars'];
const OF_STEP = ['status', 'output', 'content', 'error'];
const OF_WORKFLOW = ['id', 'duration_ms', 'step_count', 'status', 'start_time'];

/**
 * Checks the references of templates: roots exist, steps have ended before they are read, optional outputs have defaults.
 *
 * Source: vmcp spec §2 compositeTools `defaultResults`; our choice: reading a step that is no ancestor is an error
 * that names the missing `dependsOn`.
 */
export function checkReferences(
  templates: readonly LocatedTemplate[],
  steps: readonly StepDefinition[],
  order: Order,
  context: TemplateContext,
  problems: Problems,
): void {
  const byId = new Map(steps.map((step) => [step.id, step]));
  for (const { path: place, references, adds } of templates) {
    const seen = new Set<string>();
    for (const { path } of references) {
      const message = path[0] === 'steps' ? stepProblem(path, byId, order, context) : rootProblem(path, context, adds);
      if (message === undefined || seen.has(message)) continue;
      seen.add(message);
      problems.add(place, message);
    }
  }
}

function rootProblem(
  [root, member]: readonly string[],
  context: TemplateContext,
  adds: LocatedTemplate['adds'],
): string | undefined {
  if (root === undefined) return undefined; // the data as a whole
  const added = Object.hasOwn(adds, root) ? adds[root] : undefined;
  if (added !== undefined) return member === undefined ? undefined : unlisted(`.${root}`, member, added);
  if (root === 'forEach') return '.forEach exists only inside the step of a forEach step';
  if (root === 'workflow') return member === undefined ? undefined : unlisted('.workflow', member, OF_WORKFLOW);
  if (root === 'params' && member !== undefined && context.parameters !== undefined) {
    return unlisted('.params', member, context.parameters);
  }
  const roots = [...ROOTS, ...Object.keys(adds)];
  return roots.includes(root) ? undefined : unlisted('', root, roots);
}

function unlisted(of: string, member: string, known: readonly string[]): string | undefined {
  if (known.includes(member)) return undefined;
  const hint = nearest(member, known);
  const advice = hint === undefined ? ` (known: ${known.join(', ') || 'nothing'})` : `, did you mean ${of}.${hint}?`;
  return of === '' ? `templates cannot read .${member}${advice}` : `${of} has no ${member}${advice}`;
}

function stepProblem(
  [, id, part, field]: readonly string[],
  byId: ReadonlyMap<string, StepDefinition>,
  order: Order,
  { step }: TemplateContext,
): string | undefined {
  if (id === undefined) return undefined; // `.steps` as a whole: the steps that have ended
  const read = byId.get(id);
  if (read === undefined) return unknownStep(id, [...byId.keys()]);
  if (step !== undefined && id === step.id) return `step "${id}" reads itself`;
  if (step !== undefined && order.ancestors.get(step.id)?.has(id) !== true) {
    return `step "${step.id}" reads step "${id}", which may still be running; add "${id}" to dependsOn`;
  }
  if (part !== undefined && !OF_STEP.includes(part)) return unlisted(`.steps.${id}`, part, OF_STEP);
  return part === 'output' ? withoutDefault(read, field) : undefined;
}

/** A step that may have no output needs a default for every member that a template reads. */
function withoutDefault(read: StepDefinition, field: string | undefined): string | undefined {
  const mayMiss =
    read.condition !== undefined ? 'has a condition' : read.onError?.action === 'continue' ? 'may fail' : '';
  if (mayMiss === '') return undefined;
  if (read.defaultResults === undefined) {
    return `reads the output of step "${read.id}", which ${mayMiss}; give that step defaultResults${field === undefined ? '' : ` with "${field}"`}`;
  }
  if (field === undefined || Object.hasOwn(read.defaultResults, field)) return undefined;
  return `reads output.${field} of step "${read.id}", which ${mayMiss}; add "${field}" to its defaultResults`;
}
