import { encode, type RawJson, RawObject, renamed, type ToolEntry } from '@toolmgr/core';
import type { Override } from './config.ts';
import type { Rules } from './rules.ts';

/** Overridden definitions, cached by the original ones, so that a rebuild returns the same buffers. */
export type OverrideCache = WeakMap<RawJson, RawJson>;

/**
 * Applies the overrides of names, descriptions and annotations.
 *
 * Overrides are looked up by the original name and applied once, so A to B and B to A swap. All other bytes of a definition
 * are unchanged. A cache is valid for one set of rules.
 */
export function override(tools: readonly ToolEntry[], rules: Rules, cache: OverrideCache = new WeakMap()): ToolEntry[] {
  return tools.map((tool) => {
    const change = tool.run === undefined ? rules.get(tool.backend)?.overrides.get(tool.original) : undefined;
    return change === undefined ? tool : withOverride(tool, change, cache);
  });
}

function withOverride(tool: ToolEntry, change: Override, cache: OverrideCache): ToolEntry {
  const named = change.name === undefined ? tool : renamed(tool, change.name, 'override.name');
  const changed = [
    ...(change.description === undefined ? [] : ['override.description']),
    ...(change.annotations === undefined ? [] : ['override.annotations']),
  ];
  if (changed.length === 0) return named;
  const definition = cache.get(named.definition) ?? rewritten(named.definition, change);
  cache.set(named.definition, definition);
  return { ...named, definition, shapedBy: [...named.shapedBy, ...changed] };
}

function rewritten(definition: RawJson, { description, annotations }: Override): RawJson {
  let members = RawObject.parse(definition);
  if (description !== undefined) members = members.with('description', encode(description));
  if (annotations === undefined) return members.toBytes();
  let fields = members.object('annotations') ?? RawObject.empty();
  for (const [field, value] of Object.entries(annotations)) fields = fields.with(field, encode(value));
  return members.with('annotations', fields.toBytes()).toBytes();
}
