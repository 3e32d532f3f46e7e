import { definePlugin, STAGE } from '@toolmgr/core';
import { unknownNames } from '@toolmgr/plugins/kit/settings';
import { mentionApproval } from './approvals.ts';
import { authorizer } from './authorizer.ts';
import { cedarConfig } from './config.ts';

const ADDRESS = 'authorization/cedar';

/** Authorizes calls with Cedar policies and filters lists. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'authorizes calls with Cedar policies, and filters lists',
  contractKey: 'incomingAuth.authz',
  config: cedarConfig,
  apply(core, config) {
    const policies = authorizer(core, config);
    // a tap with a promise makes all authorization asynchronous, so only where claims may have to be read
    if (config.primaryUpstreamProvider === '') core.hooks.authorize.tap(ADDRESS, (call) => policies.refusal(call));
    else core.hooks.authorize.tapPromise(ADDRESS, async (call) => policies.refusalByUpstream(call));
    // here, not in authorize: the answer of the person comes with a later round, and steps of composite tools are not authorized again
    if (mentionApproval(config.policies)) {
      core.hooks.wrapDispatch.tap(
        { name: ADDRESS, stage: STAGE.early },
        (dispatch) => (call) => policies.approved(call, dispatch),
      );
    }
    core.hooks.advertise.tapPromise(ADDRESS, async (entries, caller) => policies.filtered(entries, caller));
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, (draft, inputs) => {
      const warnings = unknownNames(draft, inputs, policies.namesInPolicies());
      return warnings.length === 0 ? draft : { ...draft, warnings: [...draft.warnings, ...warnings] };
    });
    core.hooks.starting.tap(ADDRESS, () => policies.start());
    core.hooks.stopping.tap(ADDRESS, () => policies.stop());
  },
});
