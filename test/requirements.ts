import { ask } from './requirements/ask.ts';
import { choices } from './requirements/choices.ts';
import { manager } from './requirements/manager.ts';
import { run } from './requirements/run.ts';
import type { Section } from './requirements/section.ts';
import { vmcp } from './requirements/vmcp.ts';

const sections = [...manager, ...run, ...vmcp, ...choices, ...ask] as const satisfies readonly Section[];

/** One requirement: its text, its source, and why no test proves it yet, if deferred. */
export interface Requirement {
  readonly id: string;
  readonly source: string;
  readonly says: string;
  readonly deferred?: string;
}

/** The union of all ids, so that a misspelt citation does not compile. */
export type RequirementId = IdsOf<(typeof sections)[number]>;

/** The whole ledger: the three contract documents, the choices, the additional requirements. */
export const requirements: readonly Requirement[] = sections.flatMap(linesOf);

type IdsOf<S> = S extends Section ? keyof S['says'] & string : never;

function linesOf({ source, says, deferred }: Section): Requirement[] {
  return Object.entries(says).map(([id, line]) => ({ id, source, says: line, ...(deferred ? { deferred } : {}) }));
}
