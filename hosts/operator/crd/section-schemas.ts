import { type Catalogue, findPlugin, GatewayFault } from '@toolmgr/core';
import type { KubeMeta } from '@toolmgr/plugins/kit/kubernetes';
import { configSchema, isOfHost } from '../../vmcp/config-schema.ts';
import { hostKeys } from '../../vmcp/host-keys.ts';
import { schemaOf } from '../../vmcp/section-problems.ts';
import { hasKey, type KeyedSection, lastKey, STRATEGIES, sectionsOf } from '../../vmcp/sections.ts';
import type { ClusterPlugin } from '../kinds/kind.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';

/** Finds the schema of a section of a vmcp file: `.` is the file, `/` leads into it, `*` is an item or a value of a map. */
export type FindSchema = (place: string) => JsonSchema;

/**
 * The schema of a vmcp file, with the schemas of all plugins of the catalogue. All keys at top level are optional, since the
 * operator fills them. With `acceptsMissing` a section whose plugin needs an optional package that is not installed accepts
 * everything.
 * @throws GatewayFault PLUGIN_UNKNOWN without `acceptsMissing`, when a package is not installed
 */
export async function fileSchema(catalogue: Catalogue, acceptsMissing = false): Promise<JsonSchema> {
  const sections = (await sectionsOf(catalogue)).filter(hasKey).filter((section) => !isOfHost(section));
  let file = jsonSchemaOf(configSchema(await sectionsOf(catalogue)));
  for (const section of sections) {
    const schema = await schemaOfSection(section, catalogue).catch((cause: unknown) => {
      if (acceptsMissing && cause instanceof GatewayFault && cause.code === 'PLUGIN_UNKNOWN') return UNCHECKED;
      throw cause;
    });
    for (const place of placesIn(section)) file = withSchema(file, place, schema);
  }
  for (const [key, { checked }] of hostKeys) {
    if (checked !== undefined) file = withSchema(file, [key], jsonSchemaOf(checked));
  }
  const { required: _, ...rest } = file;
  return rest;
}

const UNCHECKED: JsonSchema = { isUnchecked: true };

/**
 * Finds in the schema of a file, with the rules of the plugin at its section.
 * @throws Error when nothing is at the place
 */
export function finder(file: JsonSchema, plugins: readonly ClusterPlugin[] = []): FindSchema {
  return (place) => {
    if (place === '.') return { ...file, within: Object.assign(forbiddenIn(plugins), ...plugins.map(rulesInFile)) };
    const key = place.replace(/\/\*$/, '');
    const rules = plugins.find(({ contractKey }) => contractKey === key)?.fromCluster.rules;
    return { ...schemaAt(file, place), ...(key === place ? rules : { within: rulesOfItem(rules?.within) }) };
  };
}

/** The sections that the file of an object must not have. What a pod would refuse, the API server refuses. */
function forbiddenIn(plugins: readonly ClusterPlugin[]): NonNullable<KubeMeta['within']> {
  const forbidden = plugins.flatMap(({ contractKey, fromCluster: { forbidden: why } }) =>
    contractKey === undefined || why === undefined ? [] : [[contractKey, why]],
  );
  return forbidden.length === 0 ? {} : { '': { forbidden: Object.fromEntries(forbidden) } };
}

/** The rules in one item of a section that is a list. */
function rulesOfItem(within: KubeMeta['within'] = {}): NonNullable<KubeMeta['within']> {
  const inItem = Object.entries(within).filter(([path]) => path.startsWith('[].'));
  return Object.fromEntries(inItem.map(([path, each]) => [path.slice('[].'.length), each]));
}

/** The rules of a section by their paths in the file. Where secrets are named otherwise, other rules count. */
function rulesInFile({ contractKey = '', fromCluster: { rules } }: ClusterPlugin): KubeMeta['within'] {
  if (rules === undefined || rules.namedSecrets) return {};
  const inFile = (path: string): string => (path === '' ? contractKey : `${contractKey}.${path}`);
  return Object.fromEntries(Object.entries(rules.within ?? {}).map(([path, each]) => [inFile(path), each]));
}

function schemaAt(file: JsonSchema, place: string): JsonSchema {
  return place.split('/').reduce<JsonSchema>((at, key) => {
    if (at.isUnchecked) return at;
    const found = key === '*' ? inner(at) : at.properties?.[key];
    if (found === undefined) throw new Error(`the schema of a vmcp file has nothing at ${place}`);
    return found;
  }, file);
}

async function schemaOfSection(section: KeyedSection, catalogue: Catalogue): Promise<JsonSchema> {
  const plugin = await findPlugin(section.address, { catalogue, baseDir: '' });
  const found = schemaOf(section, plugin, undefined);
  if (found === undefined) return {};
  const schema = jsonSchemaOf(found.schema);
  return found.member === undefined ? schema : (schema.properties?.[found.member] ?? {});
}

function placesIn(section: KeyedSection): readonly (readonly string[])[] {
  const key = lastKey(section);
  if (!section.contractKey.startsWith(`${STRATEGIES}.`)) return [section.contractKey.split('.')];
  return [
    ['outgoingAuth', 'default', key],
    ['outgoingAuth', 'backends', '*', key],
  ];
}

/** The schema with another one at a place. */
function withSchema(at: JsonSchema, [key, ...rest]: readonly string[], schema: JsonSchema): JsonSchema {
  if (key === undefined) return at.description === undefined ? schema : { ...schema, description: at.description };
  if (key === '*') return { ...at, additionalProperties: withSchema(inner(at) ?? {}, rest, schema) };
  const { [key]: member = {}, ...others } = at.properties ?? {};
  return { ...at, properties: { ...others, [key]: withSchema(member, rest, schema) } };
}

function inner({ items, additionalProperties }: JsonSchema): JsonSchema | undefined {
  if (typeof items === 'object') return items;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
