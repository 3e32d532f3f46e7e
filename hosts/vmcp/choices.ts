import type { Choice, FileFacts } from '@toolmgr/core';
import { ABSENT_STRATEGIES } from './absent-strategies.ts';
import type { Problem } from './problem.ts';
import { hasKey, lastKey, type Section, STRATEGIES, strategyPlaces, valueAt } from './sections.ts';

/** What one value of `type` means, and the key of its options. */
export interface KnownChoice extends Partial<Choice> {
  readonly type: string;
  readonly options?: string;
  /** Why this version refuses it. */
  readonly why?: string;
}

/** A section with a `type`, as it is in the file. */
export interface Chosen {
  readonly type: string;
  readonly [options: string]: unknown;
}

/** Where callers are known: its `type` chooses the plugin. */
export const CALLERS = 'incomingAuth';

/** The choices of a section in the order of the catalogue, then those that no plugin brings yet. */
export function choicesOf(sections: readonly Section[], of: string): KnownChoice[] {
  const present = sections.flatMap((section): KnownChoice[] => {
    if (section.choice?.of !== of) return [];
    return [{ ...section.choice, ...(hasKey(section) ? { options: lastKey(section) } : {}) }];
  });
  return of === STRATEGIES ? [...present, ...ABSENT_STRATEGIES] : present;
}

/** What is chosen where a file says nothing. */
export function defaultOf(sections: readonly Section[], of: string): Chosen {
  const found = sections.find(({ choice }) => choice?.of === of && choice.isDefault);
  return { type: found?.choice?.type ?? '' };
}

/** Types that the file chooses in a section. */
export function chosenTypes(file: unknown, of: string): ReadonlySet<unknown> {
  const places = of === STRATEGIES ? strategyPlaces(file) : [[of]];
  return new Set(places.map((place) => valueAt(file, [...place, 'type'])));
}

/** Choices that cannot work, each by its name: absent ones, options that are missing or of another type, no token. */
export function choiceProblems(file: unknown, sections: readonly Section[], facts: FileFacts): Problem[] {
  return [
    ...problemsAt([CALLERS], file, choicesOf(sections, CALLERS), facts),
    ...strategyPlaces(file).flatMap((place) => problemsAt(place, file, choicesOf(sections, STRATEGIES), facts)),
  ];
}

function problemsAt(
  place: Problem['path'],
  file: unknown,
  choices: readonly KnownChoice[],
  facts: FileFacts,
): Problem[] {
  const use = valueAt(file, place) as Chosen | undefined;
  const chosen = choices.find(({ type }) => type === use?.type);
  if (use === undefined || chosen === undefined) return [];
  const { type, options, why, needsCallerToken } = chosen;
  const problems: Problem[] = [];
  const refuse = (path: Problem['path'], message: string): void => void problems.push({ path, message });
  if (why !== undefined) refuse([...place, 'type'], `${type} ${why}`);
  else if (options !== undefined && use[options] === undefined) refuse(place, `type ${type} needs ${options}`);
  if (needsCallerToken && facts.callers !== 'token' && !facts.hasOwnPlugins) {
    refuse(
      [...place, 'type'],
      `${type} works with the token that a caller came with, and nobody brings one; set incomingAuth.type: oidc`,
    );
  }
  for (const other of choices) {
    if (other.options === undefined || other.options === options || use[other.options] === undefined) continue;
    const advice = other.why === undefined ? `, or set type: ${other.type}` : '';
    refuse([...place, other.options], `has no effect with type ${type}; remove it${advice}`);
  }
  return problems;
}

/** One use of a strategy as plans have it. */
export function strategyUse(use: Chosen, choices: readonly KnownChoice[]): { type: string; options?: unknown } {
  const key = choices.find(({ type }) => type === use.type)?.options;
  const options = key === undefined ? undefined : use[key];
  return options === undefined ? { type: use.type } : { type: use.type, options };
}
