import { present } from '@toolmgr/core';
import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** Mutating and validating webhooks. */
export const fromFlags: FromFlags = {
  plan({ mutating_webhooks: mutating, validating_webhooks: validating, transport }, _start, use) {
    if (!mutating?.length && !validating?.length) return {};
    return { plugins: [{ use, with: { ...present({ mutating, validating }), transport } }] };
  },
};
