import { encode, type RawJson } from '@toolmgr/core';
import type { CodeModeConfig } from './config.ts';
import { declarationsOf } from './declarations.ts';
import type { Scope } from './scope.ts';

/** The name of the tool in every gateway (vmcp spec §4). */
export const TOOL_NAME = 'execute_tool_script';

/** The tool's definition, with declarations of the tools that one caller's scripts can call. */
export function toolDefinition(scope: Scope, config: CodeModeConfig): RawJson {
  return encode({
    name: TOOL_NAME,
    title: 'Run a script over tools',
    description: descriptionOf(scope, config),
    inputSchema: INPUT_SCHEMA,
  });
}

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    script: {
      type: 'string',
      minLength: 1,
      description: 'Body of an async JavaScript function; `return` gives the result',
    },
    data: { type: 'object', description: 'Values for the script, found there as `data`' },
  },
  required: ['script'],
  additionalProperties: false,
  examples: [
    {
      script: 'return await parallel(data.names.map((name) => () => callTool("lookup", { name })));',
      data: { names: ['a', 'b'] },
    },
  ],
} as const;

function descriptionOf(scope: Scope, config: CodeModeConfig): string {
  const { descriptionChars, stepLimit, scriptTimeout, toolCallTimeout, parallelMaxConcurrency } = config;
  const head = `Runs a JavaScript program that calls tools: many calls, and what you do with their results, in one round trip.
\`script\` is the body of an async function. Use \`await\`; end with \`return value\` (JSON), or nothing comes back.
In scope:
- the functions declared below, one object per server; each tool also under its full name, e.g. \`callTool("full_name", args)\`.
- \`callTool(name, args)\`: any tool by its full name.
- \`parallel([() => …, () => …])\`: runs functions at the same time, at most ${parallelMaxConcurrency} tool calls at once; results in order. When one throws the others still end, then it throws.
- \`data\`: the object given as \`data\`. \`console.log(…)\`: lines that come back with the result.
A call gives the tool's structured result, or its text (parsed when it is JSON); when the tool fails, or takes longer than ${seconds(toolCallTimeout)}, it throws an Error that you can catch.
No imports, network, files or timers. Limits: ${stepLimit} steps, ${seconds(scriptTimeout)}.
`;
  const declarations = declarationsOf(scope, descriptionChars - head.length - FENCE.length);
  return `${head}\`\`\`ts\n${declarations}\`\`\``;
}

const FENCE = '```ts\n```';

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
