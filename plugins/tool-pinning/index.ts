import { CallRefused, definePlugin, STAGE } from '@toolmgr/core';
import { heldDefinitions } from '@toolmgr/plugins/kit/extension-points';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { pinsFileOf } from '@toolmgr/plugins/kit/tool-pins';
import { toolPinningConfig } from './config.ts';
import { createPinnedLists } from './pinned-lists.ts';

const ADDRESS = 'tool-pinning';

/** Holds definitions of tools, prompts and resource templates that are new or changed until a person approves them. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'holds new and changed definitions of tools, prompts and templates until a person approves them',
  contractKey: 'toolPinning',
  config: toolPinningConfig,
  apply(core, { mode, file = pinsFileOf(stateDir(core.environment), core.server.name) }) {
    const lists = createPinnedLists(core, { address: ADDRESS, mode, file });
    // first: the definitions are those of the backends, before any override
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.first }, lists.shape);
    core.hooks.shapeInstructions.tap({ name: ADDRESS, stage: STAGE.first }, lists.shapeInstructions);
    // here, not in authorize: steps of composite tools are not authorized again
    core.hooks.wrapDispatch.tap({ name: ADDRESS, stage: STAGE.first }, (dispatch) => (call) => {
      const { held, kind } = call.target;
      if (held === undefined) return dispatch(call);
      const reason = `this ${kind} is held until a person approves it: ${held}`;
      return Promise.reject(new CallRefused({ refused: true, status: 403, reason }));
    });
    core.slot(heldDefinitions).register(ADDRESS, lists.heldCounts);
    core.hooks.starting.tapPromise(ADDRESS, lists.start);
    core.hooks.stopping.tapPromise(ADDRESS, lists.stop);
  },
});
