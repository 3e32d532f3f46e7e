import { type Caller, definePlugin, encode, type Plugin, type ToolEntry } from '@toolmgr/core';
import type { Operation } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import type { Access } from '../http/access.ts';
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

/** Names the caller of a request, which the host has checked. */
export function managerCallersPlugin(access: Access): Plugin {
  return definePlugin({
    address: MANAGER_CALLERS,
    stability: 'alpha',
    summary: 'names the callers of the manager',
    config: z.strictObject({}),
    apply(core) {
      core.hooks.authenticate.tapPromise(MANAGER_CALLERS, async (inbound): Promise<Caller | undefined> => {
        const caller = await access.authenticate(inbound);
        if ('problem' in caller) return undefined;
        const { name } = caller;
        return { issuer: '', subject: name, key: `\0${name}`, name, claims: {} };
      });
    },
  });
}
