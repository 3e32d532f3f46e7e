import { readdirSync, readFileSync } from 'node:fs';
import { type CatalogEntry, explainIssues, type JsonObject } from '@toolmgr/core';
import { parse } from 'yaml';
import { z } from 'zod';
import type { BuiltCatalog } from '../../core/catalog/build.ts';
import aggregation from '../../plugins/aggregation/index.ts';
import { built } from './catalogs.ts';
import { listingsOf } from './listings.ts';
import { pluginCore } from './plugin-core.ts';

const listed = z.array(z.union([z.string(), z.record(z.string(), z.json())])).optional();
const offer = z.strictObject({ tools: listed, prompts: listed, resources: listed, templates: listed });
const names = z.record(z.string(), z.string()).default({});

/** One golden file: what the backends list, the configuration, and the expected catalogue or failure. */
const goldenSchema = z.strictObject({
  says: z.string(),
  backends: z.record(z.string(), offer).default({}),
  aggregation: z.unknown().optional().describe('configuration of the plugin; when absent, the plugin is not loaded'),
  maxToolNameLength: z.int().optional(),
  /** Names map to `backend.original`, URIs to the backend. Maps are in list order. */
  expect: z
    .strictObject({
      tools: names,
      prompts: names,
      resources: names,
      templates: names,
      hidden: names,
      warnings: z.array(z.string()).default([]),
      inside: z
        .record(z.string(), z.string().nullable())
        .default({})
        .describe('results of inner lookups, for some names'),
      reads: z.record(z.string(), z.string().nullable()).default({}).describe('backend of a URI'),
      shapedBy: z.record(z.string(), z.array(z.string())).default({}).describe('for some tools'),
      definitions: z.record(z.string(), z.json()).default({}).describe('for some tools'),
    })
    .optional(),
  fails: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  refused: z.array(z.string()).optional(),
});

/** A case as written. */
export type Golden = z.output<typeof goldenSchema>;

/** All cases by file name. */
export function readGoldenCatalogs(): ReadonlyMap<string, Golden> {
  const folder = new URL('../golden/catalog/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return new Map(
    files.sort().map((name) => [name, goldenSchema.parse(parse(readFileSync(new URL(name, folder), 'utf8')))]),
  );
}

/** Problems of the configuration, as a host prints them. */
export function refusalsOf(golden: Golden): string[] {
  const read = aggregation.config.safeParse(golden.aggregation);
  return read.success ? [] : explainIssues('aggregation', aggregation.config, read.error);
}

/** Builds the case with the real hook, with backends discovered in the given order. */
export function buildGolden(golden: Golden, order: readonly string[] = Object.keys(golden.backends)): BuiltCatalog {
  const core = pluginCore();
  if (golden.aggregation !== undefined) aggregation.apply(core, aggregation.config.parse(golden.aggregation));
  const listings = listingsOf(
    Object.fromEntries(
      order.map((name) => [name, (golden.backends[name] ?? {}) as Parameters<typeof listingsOf>[0][string]]),
    ),
  );
  return built(listings, {
    shape: (draft, inputs) => core.hooks.shapeCatalog.call(draft, inputs),
    ...(golden.maxToolNameLength === undefined ? {} : { maxToolNameLength: golden.maxToolNameLength }),
  });
}

/** The outcome in the form of `expect`; sections for some names contain only those names. */
export function outcomeOf({ catalog }: BuiltCatalog, wanted: NonNullable<Golden['expect']>) {
  const origin = (entry: CatalogEntry | undefined) => entry && `${entry.backend}.${entry.original}`;
  const visible = (kind: 'tool' | 'prompt') => catalog.visible(kind).map((entry) => [entry.key, origin(entry)]);
  const owners = (kind: 'resource' | 'template') =>
    catalog.visible(kind).map(({ key, backend: workload }) => [key, workload]);
  const tool = (key: string) => catalog.allTools().find((entry) => entry.key === key);
  const asked = <T>(record: Readonly<Record<string, unknown>>, answer: (key: string) => T) =>
    Object.fromEntries(Object.keys(record).map((key) => [key, answer(key)]));
  return {
    tools: visible('tool'),
    prompts: visible('prompt'),
    resources: owners('resource'),
    templates: owners('template'),
    hidden: catalog.allTools().flatMap(({ key, hiddenBy }) => (hiddenBy === undefined ? [] : [[key, hiddenBy]])),
    warnings: catalog.warnings,
    inside: asked(wanted.inside, (name) => origin(catalog.findForInnerCall(name)) ?? null),
    reads: asked(wanted.reads, (uri) => catalog.findResource(uri)?.backend ?? null),
    shapedBy: asked(wanted.shapedBy, (key) => tool(key)?.shapedBy),
    definitions: asked(wanted.definitions, (key) => JSON.parse(String(tool(key)?.definition)) as JsonObject),
  };
}

/** `expect` with ordered maps as lists of pairs. */
export function expectedOutcome(wanted: NonNullable<Golden['expect']>) {
  const { tools, prompts, resources, templates, hidden, ...rest } = wanted;
  return {
    tools: Object.entries(tools),
    prompts: Object.entries(prompts),
    resources: Object.entries(resources),
    templates: Object.entries(templates),
    hidden: Object.entries(hidden),
    ...rest,
  };
}
