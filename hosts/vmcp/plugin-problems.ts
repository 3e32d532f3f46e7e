import { explainCause, findPlugin, GatewayFault, type Plugin, type PluginPlaces } from '@toolmgr/core';
import type { z } from 'zod';
import type { Problem } from './problem.ts';
import { check } from './problem-lines.ts';

/** What is wrong under `plugins:`. Custom plugins are loaded as the start loads them, so that both say the same. */
export async function pluginProblems(given: unknown, places: PluginPlaces): Promise<Problem[]> {
  if (!Array.isArray(given)) return [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of (given as unknown[]).entries()) {
    const use = typeof entry === 'object' && entry !== null && 'use' in entry ? entry.use : undefined;
    if (typeof use !== 'string' || use === '') continue;
    const path = ['plugins', index, 'use'];
    if (seen.has(use)) problems.push({ path, message: `${use} stands twice` });
    seen.add(use);
    const plugin = await findPlugin(use, places).catch(whyAbsent);
    if (typeof plugin === 'string') {
      problems.push({ path, message: plugin });
      continue;
    }
    const config: unknown = 'with' in (entry as object) ? (entry as { readonly with: unknown }).with : {};
    problems.push(...configProblems(plugin, config ?? {}, ['plugins', index, 'with']));
  }
  return problems;
}

/** Why a plugin is not there, with what caused it. @throws whatever is no fault of it */
export function whyAbsent(cause: unknown): string {
  if (cause instanceof GatewayFault) return cause.message;
  throw cause;
}

/** A reader that is not zod may throw, and says what it wants. */
function configProblems({ config }: Plugin, value: unknown, path: Problem['path']): Problem[] {
  try {
    return check(config as z.ZodType, value, path);
  } catch (cause) {
    return [{ path, message: explainCause(cause) }];
  }
}
