import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'partial-failure';

/** `partialFailureMode: fail` for plans without the plugin `health`, which has its own setting. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'answers lists that lack a backend with an error that names it; for plans without health',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.starting.tap(ADDRESS, () => core.backends.requireAll());
  },
});
