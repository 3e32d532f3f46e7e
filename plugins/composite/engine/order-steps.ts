import { nearest } from '@toolmgr/core';
import type { Problems } from './problem.ts';

/** The part of a step that ordering needs. */
export interface Dependent {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/** The order of steps: levels run one after the other, the steps of one level in parallel. */
export interface Order {
  /** Indexes of steps, in the order of the file within a level. */
  readonly levels: readonly (readonly number[])[];
  /** By step id: the steps that have ended before it starts. */
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Orders steps by their dependencies (Kahn's algorithm).
 *
 * Reports as problems: duplicate ids, unknown or own ids in `dependsOn`, and cycles with their steps.
 */
export function orderSteps(steps: readonly Dependent[], problems: Problems): Order | undefined {
  const byId = new Map<string, number>();
  let isValid = true;
  const wrong = (path: (string | number)[], message: string): void => {
    isValid = false;
    problems.add(path, message);
  };
  for (const [index, { id }] of steps.entries()) {
    const first = byId.get(id);
    if (first === undefined) byId.set(id, index);
    else wrong(['steps', index, 'id'], `"${id}" is already the id of steps[${first}]; expected a unique id`);
  }
  for (const [index, { id, dependsOn }] of steps.entries()) {
    for (const [place, other] of dependsOn.entries()) {
      const path = ['steps', index, 'dependsOn', place];
      if (other === id) wrong(path, `step "${id}" cannot depend on itself`);
      else if (!byId.has(other)) wrong(path, unknownStep(other, [...byId.keys()]));
    }
  }
  if (!isValid) return undefined;
  return levelsOf(steps, byId, problems);
}

/** `no step has the id "x"`, with a suggestion. */
export function unknownStep(id: string, known: readonly string[]): string {
  const hint = nearest(id, known);
  return `no step has the id "${id}"${hint === undefined ? ` (steps: ${known.join(', ')})` : `, did you mean "${hint}"?`}`;
}

function levelsOf(
  steps: readonly Dependent[],
  byId: ReadonlyMap<string, number>,
  problems: Problems,
): Order | undefined {
  const ancestors = new Map<string, ReadonlySet<string>>();
  const levels: number[][] = [];
  let waiting = [...steps.keys()];
  while (waiting.length > 0) {
    const ready = waiting.filter((index) => steps[index]?.dependsOn.every((id) => ancestors.has(id)));
    if (ready.length === 0) {
      const cycle = cycleAmong(waiting, steps, byId);
      problems.add(
        ['steps', cycle[0] ?? 0, 'dependsOn'],
        `steps depend on each other in a cycle: ${[...cycle, cycle[0] ?? 0].map((index) => steps[index]?.id).join(' -> ')}`,
      );
      return undefined;
    }
    const found = ready.map((index): [string, ReadonlySet<string>] => {
      const { id, dependsOn } = steps[index] as Dependent;
      return [id, new Set(dependsOn.flatMap((other) => [other, ...(ancestors.get(other) ?? [])]))];
    });
    for (const [id, all] of found) ancestors.set(id, all);
    levels.push(ready);
    waiting = waiting.filter((index) => !ready.includes(index));
  }
  return { levels, ancestors };
}

/** Follows the first unmet dependency until a step repeats. */
function cycleAmong(
  waiting: readonly number[],
  steps: readonly Dependent[],
  byId: ReadonlyMap<string, number>,
): readonly number[] {
  const trail: number[] = [];
  let at = waiting[0] ?? 0;
  while (!trail.includes(at)) {
    trail.push(at);
    const next = steps[at]?.dependsOn.map((id) => byId.get(id) ?? -1).find((index) => waiting.includes(index));
    at = next ?? at;
  }
  return trail.slice(trail.indexOf(at));
}
