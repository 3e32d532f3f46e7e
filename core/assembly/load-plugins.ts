import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { faultFrom, GatewayFault } from '../errors.ts';
import { explainIssues } from '../extension/explain-issues.ts';
import { nearest } from '../extension/nearest.ts';
import type { Plugin } from '../extension/plugin.ts';
import type { Plan } from './plan.ts';

/** Addresses to plugins, each loaded only when a plan uses it. */
export type Catalogue = Readonly<Record<string, () => Promise<{ readonly default: Plugin }>>>;

/** A plugin with its configuration read. */
export interface Loaded {
  readonly plugin: Plugin;
  readonly config: unknown;
}

/**
 * Loads every plugin of a plan, in order, and reads its configuration strictly.
 *
 * `./x.js`, `../x.ts` and absolute paths are custom plugins, relative to `baseDir`; anything else is an address of
 * `inline` or of the catalogue.
 * @throws GatewayFault PLUGIN_UNKNOWN, PLUGIN_INVALID, PLAN_INVALID
 */
export async function loadPlugins(
  plan: Plan,
  catalogue: Catalogue,
  inline: readonly Plugin[],
  baseDir: string,
): Promise<readonly Loaded[]> {
  const loaded: Loaded[] = [];
  for (const [index, { use, with: given }] of plan.plugins.entries()) {
    const where = `plugins[${index}] ${use}`;
    const plugin = await findPlugin(use, where, catalogue, inline, baseDir);
    const read = plugin.config.safeParse(given ?? {});
    if (!read.success) {
      throw new GatewayFault('PLAN_INVALID', explainIssues(where, plugin.config, read.error).join('\n'));
    }
    loaded.push({ plugin, config: read.data });
  }
  return loaded;
}

async function findPlugin(
  use: string,
  where: string,
  catalogue: Catalogue,
  inline: readonly Plugin[],
  baseDir: string,
): Promise<Plugin> {
  const given = inline.find((plugin) => plugin.address === use);
  if (given !== undefined) return given;
  if (use.startsWith('./') || use.startsWith('../') || isAbsolute(use)) return customPlugin(use, where, baseDir);
  const load = Object.hasOwn(catalogue, use) ? catalogue[use] : undefined;
  if (load === undefined) throw unknownPlugin(use, where, [...Object.keys(catalogue), ...inline.map((p) => p.address)]);
  return (await load()).default;
}

async function customPlugin(use: string, where: string, baseDir: string): Promise<Plugin> {
  const path = resolve(baseDir, use);
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  } catch (cause) {
    throw faultFrom(cause, 'PLUGIN_UNKNOWN', `${where}: ${path} could not be loaded`);
  }
  if (!isPlugin(module.default)) {
    throw new GatewayFault(
      'PLUGIN_INVALID',
      `${where}: the default export of ${path} must be a plugin: { address, config, apply }`,
    );
  }
  return module.default;
}

function isPlugin(value: unknown): value is Plugin {
  if (typeof value !== 'object' || value === null) return false;
  const { address, config, apply } = value as Partial<Plugin>;
  return typeof address === 'string' && typeof config?.safeParse === 'function' && typeof apply === 'function';
}

function unknownPlugin(use: string, where: string, known: readonly string[]): GatewayFault {
  const hint = nearest(use, known);
  const advice = hint === undefined ? '' : `, did you mean ${hint}?`;
  return new GatewayFault('PLUGIN_UNKNOWN', `${where}: no such plugin${advice} (a path must start with ./ or ../)`);
}
