import {
  type Call,
  type CallResult,
  type CatalogDraft,
  encode,
  type JsonObject,
  nearest,
  type ToolEntry,
} from '@toolmgr/core';
import type { OptimizerConfig } from './config.ts';

/** The handlers of the two virtual tools. */
export interface VirtualTools {
  find(call: Call): Promise<CallResult>;
  call(call: Call): Promise<CallResult>;
}

/** The names of the virtual tools. */
export const FIND_TOOL = 'find_tool';
export const CALL_TOOL = 'call_tool';

const ADDRESS = 'optimizer/tools';

/**
 * Lists the two virtual tools and those of `alwaysListed` at the endpoint, and all others only at the direct path. Drops backend
 * tools with the names of the virtual ones, with a warning.
 */
export function hideBehindVirtualTools(
  tools: VirtualTools,
  { alwaysListed, findToolDescription }: Pick<OptimizerConfig, 'alwaysListed' | 'findToolDescription'>,
): (draft: CatalogDraft) => CatalogDraft {
  const given: JsonObject = findToolDescription === undefined ? {} : { description: findToolDescription };
  const own: readonly ToolEntry[] = [
    entryOf(FIND_TOOL, { ...FIND_DEFINITION, ...given }, tools.find),
    { ...entryOf(CALL_TOOL, CALL_DEFINITION, tools.call), makesOneCall: true },
  ];
  const listed = new Set(alwaysListed);
  return (draft) => {
    const shadowed = draft.tools.filter((tool) => hasVirtualName(tool));
    const others = draft.tools.filter((tool) => !hasVirtualName(tool));
    return {
      ...draft,
      tools: [...others.map((tool) => (listed.has(tool.key) ? tool : serveAtDirectPath(tool))), ...own],
      warnings: [...draft.warnings, ...shadowed.map(shadowedWarning), ...unmatched(alwaysListed, others)],
    };
  };
}

function unmatched(alwaysListed: readonly string[], tools: readonly ToolEntry[]): readonly string[] {
  if (alwaysListed.length === 0) return [];
  const names = new Set(tools.filter(({ hiddenBy }) => hiddenBy === undefined).map(({ key }) => key));
  return alwaysListed.flatMap((name) => {
    if (names.has(name)) return [];
    const near = nearest(name, [...names]);
    return [
      `optimizer.alwaysListed: no tool is named "${name}" now${near === undefined ? '' : `, did you mean "${near}"?`}`,
    ];
  });
}

function hasVirtualName({ key, hiddenBy }: ToolEntry): boolean {
  return hiddenBy === undefined && (key === FIND_TOOL || key === CALL_TOOL);
}

function serveAtDirectPath(tool: ToolEntry): ToolEntry {
  if (tool.hiddenBy !== undefined || tool.servedAt !== undefined) return tool;
  return { ...tool, servedAt: 'direct', shapedBy: [...tool.shapedBy, 'optimizer'] };
}

function shadowedWarning({ key, backend }: ToolEntry): string {
  return `tool "${key}" of ${backend} is dropped: the optimizer has a tool of the same name; rename it with an override`;
}

function entryOf(name: string, definition: JsonObject, run: VirtualTools['find']): ToolEntry {
  return {
    kind: 'tool',
    key: name,
    original: name,
    backend: ADDRESS,
    definition: encode({ name, ...definition }),
    shapedBy: [],
    servedAt: 'front',
    isDispatcher: true,
    run,
  };
}

const FIND_DEFINITION: JsonObject = {
  title: 'Find tools',
  description:
    'Searches all tools that you may use here, most of which are not listed. Do this first whenever a task may need a tool ' +
    'that you do not see, before you say that something cannot be done. Describe in plain words what is to be done, one or two ' +
    'sentences, without values such as names or dates. The result has the best tools with name, description and input ' +
    'schema: call one of them with call_tool, by exactly that name and with parameters that fit its schema. When nothing fits, ' +
    'search again in other words.',
  inputSchema: {
    type: 'object',
    properties: {
      tool_description: {
        type: 'string',
        description: 'What the tool is to do, e.g. "list the open pull requests of a repository".',
      },
      tool_keywords: {
        type: 'array',
        items: { type: 'string' },
        description: 'Words that its name or description may hold, e.g. ["github", "pull request", "list"].',
      },
    },
    required: ['tool_description'],
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

const CALL_DEFINITION: JsonObject = {
  title: 'Call a tool',
  description:
    'Calls a tool that find_tool has found and answers with its result. Search first: names and parameters cannot be guessed. ' +
    'tool_name is the name as find_tool gave it, parameters an object that fits the inputSchema it gave.',
  inputSchema: {
    type: 'object',
    properties: {
      tool_name: { type: 'string', description: 'The exact name of a tool that find_tool has returned.' },
      parameters: {
        type: 'object',
        description: "The tool's own arguments, as its inputSchema wants them; {} when it takes none.",
        additionalProperties: true,
      },
    },
    required: ['tool_name', 'parameters'],
  },
};
