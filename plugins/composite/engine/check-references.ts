import { nearest } from '@toolmgr/core';
import type { StepDefinition } from './definition.ts';
import { type Order, unknownStep } from './levels.ts';
import type { Problems } from './problem.ts';
import type { PlacedTemplate } from './templates.ts';

/** What a template stands in. */
export interface Surroundings {
  /** The step whose template it is; `undefined` for the output of the workflow. */
  readonly step: StepDefinition | undefined;
  /** Names of the declared parameters; `undefined` when others may come too. */
  readonly parameters: readonly string[] | undefined;
}

const ROOTS = ['params', 'steps', 'workflow', 'vars'];
const OF_STEP = ['status', 'output', 'content', 'error'];
const OF_WORKFLOW = ['id', 'duration_ms', 'step_count', 'status', 'start_time'];

/**
 * Checks what templates refer to: roots that exist, steps that have ended by then, and defaults for what may be missing.
 *
 * Source: vmcp spec §2 compositeTools `defaultResults`; choice: a template that reads a step that is no ancestor is an
 * error that names the missing `dependsOn`.
 */
export function checkReferences(
  templates: readonly PlacedTemplate[],
  steps: readonly StepDefinition[],
  order: Order,
  around: Surroundings,
  problems: Problems,
): void {
  const byId = new Map(steps.map((step) => [step.id, step]));
  for (const { path: place, references, adds } of templates) {
    const said = new Set<string>();
    for (const { path } of references) {
      const message = path[0] === 'steps' ? stepProblem(path, byId, order, around) : rootProblem(path, around, adds);
      if (message === undefined || said.has(message)) continue;
      said.add(message);
      problems.add(place, message);
    }
  }
}

function rootProblem(
  [root, member]: readonly string[],
  around: Surroundings,
  adds: PlacedTemplate['adds'],
): string | undefined {
  if (root === undefined) return undefined; // the data as a whole
  const added = Object.hasOwn(adds, root) ? adds[root] : undefined;
  if (added !== undefined) return member === undefined ? undefined : unlisted(`.${root}`, member, added);
  if (root === 'forEach') return '.forEach is there only inside the step of a forEach step';
  if (root === 'workflow') return member === undefined ? undefined : unlisted('.workflow', member, OF_WORKFLOW);
  if (root === 'params' && member !== undefined && around.parameters !== undefined) {
    return unlisted('.params', member, around.parameters);
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
  { step }: Surroundings,
): string | undefined {
  if (id === undefined) return undefined; // `.steps` as a whole: whatever has ended by then
  const read = byId.get(id);
  if (read === undefined) return unknownStep(id, [...byId.keys()]);
  if (step !== undefined && id === step.id) return `step "${id}" reads itself`;
  if (step !== undefined && order.ancestors.get(step.id)?.has(id) !== true) {
    return `step "${step.id}" reads step "${id}", which need not have ended by then; add "${id}" to dependsOn`;
  }
  if (part !== undefined && !OF_STEP.includes(part)) return unlisted(`.steps.${id}`, part, OF_STEP);
  return part === 'output' ? withoutDefault(read, field) : undefined;
}

/** What is read of a step that may leave nothing behind has to have a default. */
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
