import { explainCause, findPlugin, GatewayFault, type Plugin, type PluginPlaces } from '@toolmgr/core';
import type { z } from 'zod';
import type { Problem } from './problem.ts';
import { check } from './problem-lines.ts';
import { type Section, valueAt } from './sections.ts';

/** What `plugins:` of a file brings: sections of its plugins, and what is wrong there. */
export interface OwnPlugins {
  readonly sections: readonly Section[];
  readonly problems: readonly Problem[];
}

/** Reads `plugins:`. Its plugins are loaded as the start loads them, so that both say the same. */
export async function readOwnPlugins(file: unknown, places: PluginPlaces): Promise<OwnPlugins> {
  const given = valueAt(file, ['plugins']);
  const sections: Section[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of (Array.isArray(given) ? (given as unknown[]) : []).entries()) {
    const use = valueAt(entry, ['use']);
    if (typeof use !== 'string' || use === '') continue;
    const path = ['plugins', index, 'use'];
    if (seen.has(use)) problems.push({ path, message: `${use} stands twice` });
    seen.add(use);
    const plugin = await findPlugin(use, places).catch(whyAbsent);
    if (typeof plugin === 'string') {
      problems.push({ path, message: plugin });
      continue;
    }
    problems.push(...configProblems(plugin, valueAt(entry, ['with']) ?? {}, ['plugins', index, 'with']));
  }
  return { sections, problems };
}

/** Why a plugin is not there, with what caused it. @throws whatever is no fault of it */
export function whyAbsent(cause: unknown): string {
  if (cause instanceof GatewayFault) return cause.message;
  throw cause;
}

/** What a plugin objects to in its configuration. A reader that is not zod may throw, and says what it wants. */
export function configProblems({ config }: Plugin, value: unknown, path: Problem['path']): Problem[] {
  try {
    return check(config as z.ZodType, value, path);
  } catch (cause) {
    return [{ path, message: explainCause(cause) }];
  }
}
