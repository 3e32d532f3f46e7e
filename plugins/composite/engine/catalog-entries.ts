import {
  type Call,
  type CallResult,
  type CatalogDraft,
  type CatalogInputs,
  decodeObject,
  encode,
  innerCallNames,
  isObject,
  type JsonObject,
  type RawJson,
  type ToolEntry,
} from '@toolmgr/core';
import type { StepTool } from './answer-call.ts';
import type { Workflow } from './compile-workflow.ts';
import { STEP_TYPES } from './step-types.ts';

/** Runs one workflow with the tools of the catalogue. */
export type RunWorkflow = (workflow: Workflow, tools: ReadonlyMap<string, StepTool>, call: Call) => Promise<CallResult>;

/**
 * Makes the `shapeCatalog` tap: every workflow whose tools are all available becomes a tool.
 *
 * It hides backend tools of the same name, so that a workflow can wrap such a tool.
 */
export function createCatalogTap(
  address: string,
  workflows: () => readonly Workflow[],
  run: RunWorkflow,
): (draft: CatalogDraft, inputs: CatalogInputs) => CatalogDraft {
  const known = new Map<string, RawJson>();
  return (draft, inputs) => {
    const composites = workflows();
    if (composites.length === 0) return draft;
    const found = findAll(composites, draft.tools, { address, run, known, mayCome: mayCome(draft, inputs) });
    const names = new Set(found.entries.map(({ key }) => key));
    const shadowed: string[] = [];
    const tools = draft.tools.map((tool) => {
      if (tool.hiddenBy !== undefined || !names.has(tool.key)) return tool;
      shadowed.push(`tool "${tool.key}" of ${tool.backend} is hidden by the composite tool of the same name`);
      return { ...tool, hiddenBy: 'shadowed' as const, shapedBy: [...tool.shapedBy, 'shadowed'] };
    });
    return {
      ...draft,
      tools: [...tools, ...found.entries],
      warnings: [...draft.warnings, ...found.missing, ...shadowed],
    };
  };
}

/** What entries are made with. */
interface EntryParts {
  readonly address: string;
  readonly run: RunWorkflow;
  /** Definitions of the last build. */
  readonly known: Map<string, RawJson>;
  /** Whether a backend that has no lists so far may offer the tool of a step. */
  mayCome(name: string): boolean;
}

interface Found {
  readonly entries: readonly ToolEntry[];
  readonly missing: readonly string[];
}

function findAll(
  workflows: readonly Workflow[],
  tools: readonly ToolEntry[],
  { address, run, known, mayCome }: EntryParts,
): Found {
  const find = createToolFinder(withoutDuplicates(tools));
  const made = new Map<string, ToolEntry | undefined>();
  const missing: string[] = [];
  const byName = new Map(workflows.map((workflow) => [workflow.name, workflow]));
  const entryOf = (workflow: Workflow): ToolEntry | undefined => {
    if (made.has(workflow.name)) return made.get(workflow.name);
    made.set(workflow.name, undefined); // cycles were already rejected when the configuration was checked
    const stepTools = new Map<string, StepTool>();
    const used: ToolEntry[] = [];
    const unreachable: string[] = [];
    for (const name of workflow.tools) {
      const other = byName.get(name);
      const tool = find(name) ?? (other === undefined ? undefined : entryOf(other));
      if (tool === undefined) {
        unreachable.push(name);
        continue;
      }
      used.push(tool);
      stepTools.set(name, { innerName: innerNameOf(tool), inputSchema: factsOf(tool).inputSchema });
    }
    if (unreachable.length > 0) {
      const absent = unreachable.filter((name) => !mayCome(name));
      if (absent.length > 0)
        missing.push(`composite tool "${workflow.name}" is not listed: no backend offers ${absent.join(', ')}`);
      return undefined;
    }
    const entry = entryFor(workflow, used, address, (call) => run(workflow, stepTools, call), known);
    made.set(workflow.name, entry);
    return entry;
  };
  const entries = workflows.map(entryOf).filter((entry) => entry !== undefined);
  return { entries, missing };
}

/** A backend without entries may still be starting; the log has a line of its own for one that is unavailable. */
function mayCome(draft: CatalogDraft, { backends }: CatalogInputs): EntryParts['mayCome'] {
  const entries = [...draft.tools, ...draft.prompts, ...draft.resources, ...draft.templates];
  const listed = new Set(entries.map(({ backend }) => backend));
  const unlisted = backends.filter((backend) => !listed.has(backend));
  return (name) => {
    const named = backends.filter((backend) => name.startsWith(`${backend}.`));
    return named.length === 0 ? unlisted.length > 0 : named.some((backend) => !listed.has(backend));
  };
}

/** Of visible tools with the same name the gateway serves only the one of the first backend by name. */
function withoutDuplicates(tools: readonly ToolEntry[]): readonly ToolEntry[] {
  const winners = new Map<string, ToolEntry>();
  for (const tool of tools) {
    if (tool.hiddenBy !== undefined) continue;
    const winner = winners.get(tool.key);
    if (winner === undefined || isBefore(tool, winner)) winners.set(tool.key, tool);
  }
  return tools.filter((tool) => tool.hiddenBy !== undefined || winners.get(tool.key) === tool);
}

function isBefore(one: ToolEntry, other: ToolEntry): boolean {
  if ((one.held === undefined) !== (other.held === undefined)) return one.held === undefined;
  if ((one.run === undefined) !== (other.run === undefined)) return one.run !== undefined;
  return one.backend < other.backend;
}

/**
 * Finds a tool for a step by `backend.name` (original, advertised or former name), by its advertised name, or by its
 * original name when it is unique.
 *
 * `backend.name` never matches a tool of another backend whose advertised name looks the same.
 */
function createToolFinder(tools: readonly ToolEntry[]): (name: string) => ToolEntry | undefined {
  const toolByInnerName = innerCallNames(tools);
  const byQualifiedName = new Map<string, ToolEntry>();
  const byKey = new Map<string, ToolEntry>();
  const byOriginal = new Map<string, ToolEntry[]>();
  for (const tool of tools) {
    const { backend, original, key, aliases = [] } = tool;
    for (const name of [original, key, ...aliases]) {
      if (!byQualifiedName.has(`${backend}.${name}`)) byQualifiedName.set(`${backend}.${name}`, tool);
    }
    if (tool.hiddenBy === undefined && !byKey.has(key)) byKey.set(key, tool);
    byOriginal.set(original, [...(byOriginal.get(original) ?? []), tool]);
  }
  return (name) => {
    const owners = byOriginal.get(name) ?? [];
    const found = byQualifiedName.get(name) ?? byKey.get(name) ?? (owners.length === 1 ? owners[0] : undefined);
    // an inner call by this name must reach the same tool
    return found !== undefined && toolByInnerName.get(innerNameOf(found)) === found ? found : undefined;
  };
}

function innerNameOf({ run, key, backend, original }: ToolEntry): string {
  return run === undefined ? `${backend}.${original}` : key;
}

function entryFor(
  workflow: Workflow,
  used: readonly ToolEntry[],
  address: string,
  run: (call: Call) => Promise<CallResult>,
  known: Map<string, RawJson>,
): ToolEntry {
  const { name, description, parameters, output } = workflow;
  const definition = encode({
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: parameters.schema,
    ...(output === undefined ? {} : { outputSchema: output.schema }),
    annotations: annotationsOf(workflow, used),
  });
  // reuses equal bytes: caches are keyed by the buffer
  const before = known.get(name);
  const kept = before?.equals(definition) ? before : definition;
  known.set(name, kept);
  return { kind: 'tool', key: name, backend: address, original: name, definition: kept, shapedBy: [], run };
}

/**
 * Hints for the whole workflow: read-only when every tool is; destructive or open-world when any tool is, or does not say.
 * Step types of plugins may do anything.
 */
function annotationsOf({ levels }: Workflow, used: readonly ToolEntry[]): JsonObject {
  const hints = used.map((tool) => factsOf(tool).hints);
  const isBuiltIn = levels.flat().every(({ type }) => STEP_TYPES.has(type));
  const readOnlyHint = isBuiltIn && hints.every((hint) => hint.readOnlyHint === true);
  return {
    readOnlyHint,
    destructiveHint:
      !readOnlyHint &&
      (!isBuiltIn || hints.some((hint) => hint.readOnlyHint !== true && hint.destructiveHint !== false)),
    openWorldHint: !isBuiltIn || hints.some((hint) => hint.openWorldHint !== false),
  };
}

interface ToolFacts {
  readonly inputSchema: JsonObject | undefined;
  readonly hints: JsonObject;
}

const facts = new WeakMap<RawJson, ToolFacts>();

function factsOf({ definition }: ToolEntry): ToolFacts {
  const known = facts.get(definition);
  if (known !== undefined) return known;
  const { inputSchema, annotations } = decodeObject(definition) ?? {};
  const made = {
    inputSchema: isObject(inputSchema) ? inputSchema : undefined,
    hints: isObject(annotations) ? annotations : {},
  };
  facts.set(definition, made);
  return made;
}
