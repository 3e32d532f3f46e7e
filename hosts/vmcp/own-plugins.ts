import { explainCause, faultFrom, findPlugin, GatewayFault, type Plugin } from '@toolmgr/core';
import type { z } from 'zod';
import { type LeftPlugins, leavePlugins, misspelt } from './left-plugins.ts';
import type { Problem } from './problem.ts';
import { check } from './problem-lines.ts';
import { hasKey, type KeyedSection, type Section, strategySection, valueAt } from './sections.ts';

/** Sections and problems of the plugins under `plugins:`. */
export interface OwnPlugins extends LeftPlugins {
  readonly problems: readonly Problem[];
}

type PluginPlaces = Parameters<typeof findPlugin>[1];

/** How `plugins:` is read. */
export interface ReadOwnOptions {
  /**
   * Imports the files and packages that `plugins:` names, which runs their code. Without it only plugins of the catalogue are
   * loaded, and what the others may read is not checked.
   */
  readonly loadsPlugins: boolean;
  /** Keys of other sections. */
  readonly taken: () => readonly string[];
  /** Types of strategies towards backends that the catalogue has. */
  readonly strategies: () => readonly string[];
}

/**
 * Reads `plugins:`. Where it loads plugins, it loads them like the start, so that both report the same problems. A plugin with a
 * `contractKey` gets a section at top level.
 */
export async function readOwnPlugins(
  file: unknown,
  places: PluginPlaces,
  options: ReadOwnOptions,
): Promise<OwnPlugins> {
  const { loadsPlugins, taken } = options;
  const given = valueAt(file, ['plugins']);
  const keys = new Set<string>();
  const sections: Section[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  const left: string[] = [];
  for (const [index, entry] of (Array.isArray(given) ? (given as unknown[]) : []).entries()) {
    const use = valueAt(entry, ['use']);
    if (typeof use !== 'string' || use === '') continue;
    const path = ['plugins', index, 'use'];
    if (seen.has(use)) problems.push({ path, message: `${use} is a duplicate` });
    seen.add(use);
    if (!loadsPlugins && !Object.hasOwn(places.catalogue, use)) {
      const mistake = misspelt(use, places.catalogue);
      if (mistake === undefined) left.push(use);
      else problems.push({ path, message: mistake });
      continue;
    }
    const plugin = await findPlugin(use, places).catch(missingPluginReason);
    if (typeof plugin === 'string') {
      problems.push({ path, message: plugin });
      continue;
    }
    sections.push(...strategiesOf(use, plugin, places));
    const settings = valueAt(entry, ['with']);
    const section = Object.hasOwn(places.catalogue, use) ? undefined : sectionOf(use, plugin);
    if (section !== undefined) {
      const { contractKey } = section;
      const wrong = keyProblem(contractKey, [...taken(), ...keys]);
      if (wrong !== undefined) problems.push({ path, message: wrong });
      else sections.push(section);
      keys.add(contractKey);
      if (valueAt(file, [contractKey]) !== undefined) {
        const message = `the section ${contractKey} configures the plugin; remove one of the two`;
        if (settings !== undefined) problems.push({ path: ['plugins', index, 'with'], message });
        continue;
      }
    }
    problems.push(...configProblems(plugin, settings ?? {}, ['plugins', index, 'with']));
  }
  const { sections: unread, notLoaded } = leavePlugins(left, file, options);
  return { sections: [...sections, ...unread], problems, notLoaded };
}

/**
 * The outgoing-auth strategies that a plugin declares in `slotOptions`: `type` chooses one, and its options are below its name
 * in camel case, as for `header_injection` and `headerInjection`.
 */
function strategiesOf(use: string, plugin: Plugin, { catalogue }: PluginPlaces): readonly Section[] {
  if (Object.hasOwn(catalogue, use)) return [];
  return Object.keys(plugin.slotOptions ?? {}).map((type) => strategySection(use, plugin, type));
}

/** The section of a plugin. What a plugin throws while it reads is a fault that names it. */
function sectionOf(use: string, plugin: Plugin): KeyedSection | undefined {
  const { choice: _, whenAbsent: __, isInEveryPlan: ___, ...rest } = plugin;
  const guarded = Object.fromEntries(
    READERS.flatMap((name) => {
      const read = plugin[name] as ((...given: unknown[]) => unknown) | undefined;
      if (read === undefined) return [];
      const reading = (...given: unknown[]): unknown => {
        try {
          return read.apply(plugin, given);
        } catch (cause) {
          throw faultFrom(cause, 'PLUGIN_FAILED', `${use} could not read its section (${name})`);
        }
      };
      return [[name, reading]];
    }),
  );
  const section: Section = { ...rest, ...guarded, address: use, own: plugin };
  return hasKey(section) ? section : undefined;
}

const READERS = ['schema', 'facts', 'fromContract', 'problems', 'warnings', 'overview'] as const;

function keyProblem(key: string, taken: readonly string[]): string | undefined {
  if (!SECTION_NAME.test(key)) return `its contractKey "${key}" is no name of a section; expected letters and digits`;
  return taken.includes(key) ? `its contractKey "${key}" is the key of another section` : undefined;
}

const SECTION_NAME = /^[A-Za-z][A-Za-z0-9]*$/;

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
