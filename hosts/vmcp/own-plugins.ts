import { explainCause, findPlugin, GatewayFault, type Plugin, type PluginPlaces } from '@toolmgr/core';
import type { z } from 'zod';
import type { Problem } from './problem.ts';
import { check } from './problem-lines.ts';
import { type Section, valueAt } from './sections.ts';

/** Sections and problems of the plugins under `plugins:`. */
export interface OwnPlugins {
  readonly sections: readonly Section[];
  readonly problems: readonly Problem[];
}

/** Reads `plugins:`. Loads its plugins like the start, so that both report the same problems. */
export async function readOwnPlugins(file: unknown, places: PluginPlaces): Promise<OwnPlugins> {
  const given = valueAt(file, ['plugins']);
  const sections: Section[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of (Array.isArray(given) ? (given as unknown[]) : []).entries()) {
    const use = valueAt(entry, ['use']);
    if (typeof use !== 'string' || use === '') continue;
    const path = ['plugins', index, 'use'];
    if (seen.has(use)) problems.push({ path, message: `${use} is a duplicate` });
    seen.add(use);
    const plugin = await findPlugin(use, places).catch(missingPluginReason);
    if (typeof plugin === 'string') {
      problems.push({ path, message: plugin });
      continue;
    }
    problems.push(...configProblems(plugin, valueAt(entry, ['with']) ?? {}, ['plugins', index, 'with']));
  }
  return { sections, problems };
}

/** Why a plugin is missing. @throws the cause if it is not a GatewayFault */
export function missingPluginReason(cause: unknown): string {
  if (cause instanceof GatewayFault) return cause.message;
  throw cause;
}

/** Problems of a plugin's configuration. A schema that is not zod may throw; its message is the problem. */
export function configProblems({ config }: Plugin, value: unknown, path: Problem['path']): Problem[] {
  try {
    return check(config as z.ZodType, value, path);
  } catch (cause) {
    return [{ path, message: explainCause(cause) }];
  }
}
