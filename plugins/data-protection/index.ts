import { definePlugin, STAGE } from '@toolmgr/core';
import { unknownNames } from '@toolmgr/plugins/kit/settings';
import { dataProtectionConfig } from './config.ts';
import { createGuard } from './guard.ts';
import { protectedDispatch } from './protected-call.ts';
import { compileScopes } from './scopes.ts';

const ADDRESS = 'data-protection';

/** Finds secrets and personal data in arguments and results: masks them, blocks the call, or reports them. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'finds secrets and personal data in arguments and results: masks them, blocks the call, or reports them',
  contractKey: 'dataProtection',
  config: dataProtectionConfig,
  apply(core, config) {
    const guard = createGuard(core, config);
    const scopeOf = compileScopes(config);
    // outermost: spans and other layers see what was masked. Here, not in authorize: steps of composite tools are not authorized again
    core.hooks.wrapDispatch.tap({ name: ADDRESS, stage: STAGE.last }, (dispatch) =>
      protectedDispatch(guard, scopeOf, dispatch),
    );
    const wanted = config.rules.flatMap(({ tools = [] }, rule) =>
      tools.map(
        (name, index) => ({ place: `${ADDRESS}: rules[${rule}].tools[${index}]`, kind: 'tool', name }) as const,
      ),
    );
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, (draft, inputs) => {
      const warnings = unknownNames(draft, inputs, wanted);
      return warnings.length === 0 ? draft : { ...draft, warnings: [...draft.warnings, ...warnings] };
    });
  },
});
