import type { JsonObject, StepType } from '@toolmgr/core';
import { z } from 'zod';

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/;

/** The keys of a tool step, also inside a forEach step. */
export const toolKeys = {
  tool: z
    .string()
    .regex(NAME, 'expected workload.tool_name: letters, digits, ".", "_" and "-"')
    .describe(
      '`workload.tool_name`, the advertised name, or the original name of the tool when only one backend has it',
    ),
  arguments: z.record(z.string(), z.json()).optional().describe('strings at any depth are templates'),
};

const options = z.strictObject(toolKeys);

/** Calls one tool, also a hidden one. Source: vmcp spec §2 compositeTools, step type `tool`. */
export const toolStep: StepType<typeof options> = {
  options,
  compile({ tool, arguments: given = {} }, compiling) {
    compiling.tool(tool);
    const template = compiling.templates(given as JsonObject, ['arguments']);
    return { run: async ({ data, callTool }) => callTool(tool, template.render(data)) };
  },
};
