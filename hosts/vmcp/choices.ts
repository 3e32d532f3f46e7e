import type { FileFacts } from '@toolmgr/core';
import type { Problem } from './problem.ts';
import { type Choice, hasKey, lastKey, type Section, STRATEGIES, strategyPlaces, valueAt } from './sections.ts';

/** One possible value of `type` and the key of its options. */
export interface KnownChoice extends Partial<Choice> {
  readonly type: string;
  readonly options?: string;
}

/** A section with a `type`, as it is in the file. */
export interface Chosen {
  readonly type: string;
  readonly [options: string]: unknown;
}

/** Section whose `type` chooses the plugin that authenticates callers. */
export const CALLERS = 'incomingAuth';

/** The choices of a section in the order of the catalogue. */
export function choicesOf(sections: readonly Section[], of: string): KnownChoice[] {
  return sections.flatMap((section): KnownChoice[] => {
    if (section.choice?.of !== of) return [];
    return [{ ...section.choice, ...(hasKey(section) ? { options: lastKey(section) } : {}) }];
  });
}

/** The default choice of a section. */
export function defaultOf(sections: readonly Section[], of: string): Chosen {
  const found = sections.find(({ choice }) => choice?.of === of && choice.isDefault);
  return { type: found?.choice?.type ?? '' };
}

/** Invalid choices: unavailable ones, missing options, options of another type, and missing caller tokens. */
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
  const { type, options, needsCallerToken } = chosen;
  const problems: Problem[] = [];
  const refuse = (path: Problem['path'], message: string): void => void problems.push({ path, message });
  if (options !== undefined && use[options] === undefined) refuse(place, `type ${type} needs ${options}`);
  if (needsCallerToken && facts.callers !== 'token' && !facts.hasOwnPlugins) {
    refuse(
      [...place, 'type'],
      `${type} needs the token of the caller, and callers have none; set incomingAuth.type: oidc`,
    );
  }
  for (const other of choices) {
    if (other.options === undefined || other.options === options || use[other.options] === undefined) continue;
    refuse([...place, other.options], `has no effect with type ${type}; remove it, or set type: ${other.type}`);
  }
  return problems;
}

/** Converts one use of a strategy for the plan. */
export function strategyUse(use: Chosen, choices: readonly KnownChoice[]): { type: string; options?: unknown } {
  const key = choices.find(({ type }) => type === use.type)?.options;
  const options = key === undefined ? undefined : use[key];
  return options === undefined ? { type: use.type } : { type: use.type, options };
}
