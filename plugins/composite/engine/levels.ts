import { nearest } from '@toolmgr/core';
import type { Problems } from './problem.ts';

/** What ordering needs of a step. */
export interface Dependent {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

/** The order of steps: levels run one after the other, the steps of one at once. */
export interface Order {
  /** Indexes of steps, in the order of the file within a level. */
  readonly levels: readonly (readonly number[])[];
  /** Everything that has ended before a step begins, by its id. */
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Orders steps by what they depend on (Kahn).
 *
 * Fails as problems: an id that stands twice, an unknown or own id in `dependsOn`, a cycle, told with its way around.
 */
export function orderSteps(steps: readonly Dependent[], problems: Problems): Order | undefined {
  const byId = new Map<string, number>();
  let isSound = true;
  const wrong = (path: (string | number)[], message: string): void => {
    isSound = false;
    problems.add(path, message);
  };
  for (const [index, { id }] of steps.entries()) {
    const first = byId.get(id);
    if (first === undefined) byId.set(id, index);
    else wrong(['steps', index, 'id'], `"${id}" is the id of steps[${first}] too; expected ids that differ`);
  }
  for (const [index, { id, dependsOn }] of steps.entries()) {
    for (const [place, other] of dependsOn.entries()) {
      const path = ['steps', index, 'dependsOn', place];
      if (other === id) wrong(path, `step "${id}" cannot depend on itself`);
      else if (!byId.has(other)) wrong(path, unknownStep(other, [...byId.keys()]));
    }
  }
  if (!isSound) return undefined;
  return levelsOf(steps, byId, problems);
}

/** `no step has the id "x"`, with the nearest one there is. */
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
        `steps depend on each other in a circle: ${[...cycle, cycle[0] ?? 0].map((index) => steps[index]?.id).join(' -> ')}`,
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

/** Follows the first unmet dependency until a step comes up again. */
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
