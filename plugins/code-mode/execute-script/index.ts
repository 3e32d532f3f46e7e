import { type Call, type CallResult, type CatalogDraft, definePlugin, STAGE } from '@toolmgr/core';
import { codeModeConfig } from './config.ts';
import { runTool } from './run-tool.ts';
import { createScopeCache } from './scope-cache.ts';

const ADDRESS = 'code-mode/execute-script';

/** The tool `execute_tool_script`: a script calls the tools of its caller, in one round trip. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'offers execute_tool_script: scripts that call the tools their caller may use',
  contractKey: 'codeMode',
  config: codeModeConfig,
  apply(core, config) {
    const run = (call: Call): Promise<CallResult> =>
      runTool({ core, config, scope: async (call) => scopes.scope(await core.toolsFor(call)) }, call);
    const scopes = createScopeCache(ADDRESS, config, run);
    // late: advertised names are final; last: authorization has filtered the list
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.late }, (draft) => withTool(draft, scopes.entry()));
    core.hooks.advertise.tap({ name: ADDRESS, stage: STAGE.last }, (entries) => scopes.described(entries));
    // fails at the start when the sandbox is not registered
    core.hooks.starting.tap(ADDRESS, () => void core.slots.sandboxes.get(config.sandbox));
  },
});

/** The catalogue drops a backend tool with the same name, with a warning. */
function withTool(draft: CatalogDraft, entry: ReturnType<ReturnType<typeof createScopeCache>['entry']>): CatalogDraft {
  return { ...draft, tools: [...draft.tools, entry] };
}
