import { definePlugin, STAGE } from '@toolmgr/core';
import { absentNames } from '../../shared/absent-names.ts';
import { authorizer } from './authorizer.ts';
import { cedarConfig } from './config.ts';
import { contract } from './contract.ts';

const ADDRESS = 'authorization/cedar';

/** Decides calls by Cedar policies, and shows in lists what they would let through. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'decides by Cedar policies who may call, get and read what, and what lists show',
  ...contract,
  config: cedarConfig,
  apply(core, config) {
    const policies = authorizer(core, config);
    core.hooks.authorize.tap(ADDRESS, (call) => policies.refusal(call));
    core.hooks.advertise.tapPromise(ADDRESS, async (entries, caller) => policies.shown(entries, caller));
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, (draft, inputs) => {
      const warnings = absentNames(draft, inputs, policies.named());
      return warnings.length === 0 ? draft : { ...draft, warnings: [...draft.warnings, ...warnings] };
    });
    core.hooks.starting.tap(ADDRESS, () => policies.start());
    core.hooks.stopping.tap(ADDRESS, () => policies.stop());
  },
});
