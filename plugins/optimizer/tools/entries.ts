import { type Call, type CallResult, type CatalogDraft, encode, type JsonObject, type ToolEntry } from '@toolmgr/core';

/** What answers the two tools. */
export interface TwoTools {
  find(call: Call): Promise<CallResult>;
  call(call: Call): Promise<CallResult>;
}

/** The two names. */
export const FIND_TOOL = 'find_tool';
export const CALL_TOOL = 'call_tool';

const ADDRESS = 'optimizer/tools';

/**
 * Puts the two tools at the front door and all others behind it. A tool of a backend that has one of their names leaves,
 * with a warning: it could be neither told apart nor called.
 */
export function behindTwoTools(tools: TwoTools): (draft: CatalogDraft) => CatalogDraft {
  const own: readonly ToolEntry[] = [
    entryOf(FIND_TOOL, FIND_DEFINITION, tools.find),
    { ...entryOf(CALL_TOOL, CALL_DEFINITION, tools.call), makesOneCall: true },
  ];
  return (draft) => {
    const taken = draft.tools.filter((tool) => isTaken(tool));
    return {
      ...draft,
      tools: [...draft.tools.filter((tool) => !isTaken(tool)).map(behind), ...own],
      warnings: [...draft.warnings, ...taken.map(takenName)],
    };
  };
}

function isTaken({ key, hiddenBy }: ToolEntry): boolean {
  return hiddenBy === undefined && (key === FIND_TOOL || key === CALL_TOOL);
}

function behind(tool: ToolEntry): ToolEntry {
  if (tool.hiddenBy !== undefined || tool.servedAt !== undefined) return tool;
  return { ...tool, servedAt: 'direct', shapedBy: [...tool.shapedBy, 'optimizer'] };
}

function takenName({ key, backend }: ToolEntry): string {
  return `tool "${key}" of ${backend} is left out: the optimizer has a tool of that name; give it another by an override`;
}

function entryOf(name: string, definition: JsonObject, run: TwoTools['find']): ToolEntry {
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
    'sentences, without values such as names or dates. The answer holds the best tools with name, description and input ' +
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
