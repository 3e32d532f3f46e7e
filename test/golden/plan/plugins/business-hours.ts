import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';

/** The custom plugin that `ours.yaml` names. */
export default definePlugin({
  address: 'business-hours',
  config: z.strictObject({ open: z.string() }),
  apply: () => {},
});
