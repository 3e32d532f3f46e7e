import { type Call, type CallResult, type CatalogDraft, definePlugin, STAGE } from '@toolmgr/core';
import { codeModeConfig } from './config.ts';
import { runTool } from './run-tool.ts';
import { createDesk } from './scope-cache.ts';

const ADDRESS = 'code-mode/execute-script';

/** The tool `execute_tool_script`: a script that calls the tools of its caller, in one round trip. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'offers execute_tool_script: scripts that call the tools their caller may use',
  contractKey: 'codeMode',
  config: codeModeConfig,
  apply(core, config) {
    const run = (call: Call): Promise<CallResult> =>
      runTool({ core, config, scope: async (asked) => desk.scope(await core.toolsFor(asked)) }, call);
    const desk = createDesk(ADDRESS, config, run);
    // late: the names that the list will have; last: what the policies of the plan leave of it
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.late }, (draft) => withTool(draft, desk.entry()));
    core.hooks.advertise.tap({ name: ADDRESS, stage: STAGE.last }, (entries) => desk.described(entries));
    // a sandbox that nobody brings is said at the start
    core.hooks.starting.tap(ADDRESS, () => void core.slots.sandboxes.get(config.sandbox));
  },
});

/** A tool of a backend with this name makes way: the catalogue drops it with a warning. */
function withTool(draft: CatalogDraft, entry: ReturnType<ReturnType<typeof createDesk>['entry']>): CatalogDraft {
  return { ...draft, tools: [...draft.tools, entry] };
}
