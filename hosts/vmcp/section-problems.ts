import { type Catalogue, type FileFacts, findPlugin, type Plugin } from '@toolmgr/core';
import { z } from 'zod';
import { isOfHost, type VmcpConfig } from './config-schema.ts';
import { hostKeys } from './host-keys.ts';
import { configProblems, missingPluginReason } from './own-plugins.ts';
import { planFromConfig, type SectionedConfig } from './plan.ts';
import type { Problem } from './problem.ts';
import { check } from './problem-lines.ts';
import { hasKey, type KeyedSection, lastKey, placesOf, type Section, valueAt } from './sections.ts';

/** Checks the sections of a file with the schemas of their plugins. Loads only plugins whose section is present. */
export async function sectionsProblems(
  file: unknown,
  sections: readonly Section[],
  catalogue: Catalogue,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const section of sections.filter(hasKey).filter((section) => !isOfHost(section))) {
    for (const path of placesOf(section, file)) {
      const value = valueAt(file, path);
      if (value !== undefined) problems.push(...(await problemsAt(path, value, section, catalogue)));
    }
  }
  return problems;
}

async function problemsAt(
  path: Problem['path'],
  value: unknown,
  section: KeyedSection,
  catalogue: Catalogue,
): Promise<Problem[]> {
  const { address, own } = section;
  const plugin = own ?? (await findPlugin(address, { catalogue, baseDir: '' }).catch(missingPluginReason));
  if (typeof plugin === 'string') return [{ path, message: `needs the plugin ${address}: ${plugin}` }];
  const found = schemaOf(section, plugin, value);
  if (found === undefined) return configProblems(plugin, value, path);
  const { schema, member } = found;
  return member === undefined ? check(schema, value, path) : check(schema, { [member]: value }, path.slice(0, -1));
}

/**
 * The schema of a section that its plugin declares; `undefined` when its `config` is not an object schema of zod. With
 * `member` the section is that member of it.
 */
export function schemaOf(
  section: KeyedSection,
  { config, slotOptions }: Plugin,
  value: unknown,
): { readonly schema: z.ZodType; readonly member?: string } | undefined {
  const options = section.choice && slotOptions?.[section.choice.type];
  if (options !== undefined) return { schema: options };
  if (!(config instanceof z.ZodObject)) return undefined;
  const key = lastKey(section);
  const isMember = section.schema === undefined && Object.hasOwn(config.shape, key);
  if (isMember) return { schema: config, member: key };
  return { schema: withSwitch(section, section.schema?.(config, value) ?? config) };
}

function withSwitch({ hasSwitch }: Section, schema: z.ZodType): z.ZodType {
  if (!hasSwitch || !(schema instanceof z.ZodObject)) return schema;
  const extended = switched.get(schema) ?? schema.safeExtend({ enabled: z.boolean().default(false) });
  switched.set(schema, extended);
  return extended;
}

const switched = new WeakMap<z.ZodType, z.ZodType>();

/** Problems of keys of the host that are read as they are written. */
export function uncheckedKeys(file: unknown): Problem[] {
  return hostKeys.flatMap(([key, { checked }]) => {
    const value = valueAt(file, [key]);
    return checked === undefined || value === undefined ? [] : check(checked, value, [key]);
  });
}

/** Problems of a section that depend on other sections. */
export function sectionProblems(section: Section, config: VmcpConfig, facts: FileFacts): Problem[] {
  return atPlaces(section, config, (value) => section.problems?.(value, facts));
}

/** Warnings about a section. */
export function sectionWarnings(section: Section, config: VmcpConfig, facts: FileFacts): Problem[] {
  return atPlaces(section, config, (value) => section.warnings?.(value, facts));
}

/** Problems of each occurrence of a section, with full paths. */
function atPlaces(
  section: Section,
  config: VmcpConfig,
  tell: (value: unknown) => readonly Problem[] | undefined,
): Problem[] {
  if (!hasKey(section)) return [];
  return placesOf(section, config).flatMap((place) => {
    const value = valueAt(config, place);
    const problems = value === undefined ? [] : (tell(value) ?? []);
    return problems.map(({ path, message }) => ({ path: [...place, ...path], message }));
  });
}

/** Missing plugins that the plan needs without a section in the file, such as the script sandbox. */
export async function absentPlugins(file: SectionedConfig, catalogue: Catalogue): Promise<Problem[]> {
  const planned = planFromConfig(file).plugins.filter(({ use }) => Object.hasOwn(catalogue, use));
  const found = await Promise.all(
    planned.map(({ use }) => findPlugin(use, { catalogue, baseDir: '' }).catch(missingPluginReason)),
  );
  return found.flatMap((plugin, at) =>
    typeof plugin === 'string' ? [{ path: [], message: `needs the plugin ${planned[at]?.use}: ${plugin}` }] : [],
  );
}
