import { type Caller, definePlugin, encode, type Plugin, type ToolEntry } from '@toolmgr/core';
import type { Operation } from '@toolmgr/plugins/management';
import { z } from 'zod';
import { type ToolSettings, toolRunner } from './run-tool.ts';
import { type ManagerTool, toolsFromOperations } from './tool-from-operation.ts';

/** Address of the plugin that offers operations as tools. */
export const MANAGER_TOOLS = 'manager-tools';

/** Offers the operations that have a tool. */
export function managerToolsPlugin(operations: readonly Operation[], settings: ToolSettings): Plugin {
  return definePlugin({
    address: MANAGER_TOOLS,
    stability: 'alpha',
    summary: 'offers operations of the manager as tools',
    config: z.strictObject({}),
    apply(core) {
      const tools = toolsFromOperations(operations).map((tool) => entryOf(tool, settings));
      core.hooks.shapeCatalog.tap(MANAGER_TOOLS, (draft) => ({ ...draft, tools: [...draft.tools, ...tools] }));
    },
  });
}

function entryOf(tool: ManagerTool, settings: ToolSettings): ToolEntry {
  return {
    kind: 'tool',
    key: tool.name,
    original: tool.name,
    backend: MANAGER_TOOLS,
    definition: encode(tool.definition),
    shapedBy: [],
    run: toolRunner(tool, settings),
  };
}

/** Address of the plugin that names the callers that the host has authenticated. */
export const MANAGER_CALLERS = 'manager-callers';

/** Names the caller of a request. `callerOf` gets its headers: the host has checked them. */
export function managerCallersPlugin(
  callerOf: (headers: Readonly<Record<string, string | undefined>>) => Promise<string | undefined>,
): Plugin {
  return definePlugin({
    address: MANAGER_CALLERS,
    stability: 'alpha',
    summary: 'names the callers of the manager',
    config: z.strictObject({}),
    apply(core) {
      core.hooks.authenticate.tapPromise(MANAGER_CALLERS, async ({ headers }): Promise<Caller | undefined> => {
        const name = await callerOf(headers);
        return name === undefined ? undefined : { issuer: '', subject: name, key: `\0${name}`, name, claims: {} };
      });
    },
  });
}
