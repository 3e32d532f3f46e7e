import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { explainCause, explainIssues, nearest } from '@toolmgr/core';
import { parse } from 'yaml';
import { z } from 'zod';
import { UsageError } from '../shared/usage-error.ts';
import { userConfigPath } from '../shared/user-config.ts';
import { DEFAULT_PLAN, type ManagerPlan } from './plan.ts';

/** The file of `toolmgr serve --config`: how a manager differs from the default one. */
export const managerConfig = z.strictObject({
  plugins: z
    .array(
      z.strictObject({
        use: z
          .string()
          .min(1)
          .describe(
            'address of a plugin; a path that starts with ./ or ../, or an installed package, for one of your own',
          ),
        with: z.unknown().optional().describe("the plugin's options"),
        insteadOf: z.string().optional().describe('address of the default plugin whose place it takes'),
      }),
    )
    .default([])
    .describe('plugins besides the default ones, plugins in their place, and options of default ones'),
  without: z.array(z.string()).default([]).describe('addresses of default plugins that are left out'),
});

/** Where plugins of a manager are named. */
export interface ManagerSetup {
  readonly plan: ManagerPlan;
  /** Folder of relative paths in the plan. */
  readonly baseDir: string;
}

/** `manager.yaml` beside the settings of the user: used when there is one, also by commands of plugins. */
export function managerConfigPath(env: Readonly<Record<string, string | undefined>>): string {
  return join(dirname(userConfigPath(env)), 'manager.yaml');
}

/**
 * Reads which plugins a manager loads; `file` is the one of the command line.
 * @throws UsageError naming the file and each fault in it
 */
export async function readManagerSetup(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ManagerSetup | undefined> {
  const path = resolve(file ?? managerConfigPath(env));
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (file === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${path}: ${explainCause(cause)}`);
  }
  return { plan: planFrom(text, path), baseDir: dirname(path) };
}

/**
 * The default plan, as a file changes it. A plugin that no default one gives its place to is added at the end.
 * @throws UsageError naming the file and each fault in it
 */
export function planFrom(text: string, path: string): ManagerPlan {
  const { plugins, without } = checked(text, path);
  const defaults = DEFAULT_PLAN.map(({ use }) => use);
  const places = new Map(plugins.map((plugin) => [plugin.insteadOf ?? plugin.use, plugin]));
  if (places.size < plugins.length) throw new UsageError(`${path}: plugins: two of them have the same place`);
  for (const [key, named] of [
    ['without', without],
    ['plugins.insteadOf', plugins.flatMap(({ insteadOf }) => insteadOf ?? [])],
  ] as const) {
    const unknown = named.find((address) => !defaults.includes(address));
    if (unknown !== undefined) throw new UsageError(`${path}: ${key}: ${notDefault(unknown, defaults)}`);
  }
  const kept = defaults.filter((address) => !without.includes(address)).map((use) => places.get(use) ?? { use });
  const added = plugins.filter(({ use, insteadOf }) => insteadOf === undefined && !defaults.includes(use));
  return [...kept, ...added].map(({ insteadOf: _, ...entry }: (typeof plugins)[number]) => entry);
}

function checked(text: string, path: string): z.output<typeof managerConfig> {
  let given: unknown;
  try {
    given = parse(text) ?? {};
  } catch (cause) {
    throw new UsageError(`${path}: ${explainCause(cause)}`);
  }
  const read = managerConfig.safeParse(given);
  if (read.success) return read.data;
  throw new UsageError(explainIssues(path, managerConfig, read.error).join('\n'));
}

function notDefault(address: string, defaults: readonly string[]): string {
  const hint = nearest(address, defaults);
  return `${address} is no default plugin${hint === undefined ? '' : `, did you mean ${hint}?`} (they are ${defaults.join(', ')})`;
}
