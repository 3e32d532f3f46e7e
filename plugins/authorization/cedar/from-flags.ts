import { present } from '@toolmgr/core';
import { inCamelCase } from '@toolmgr/plugins/kit/settings';
import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** The policies of an authorization file. */
export const fromFlags: FromFlags = {
  where: '--authz-config',
  plan: ({ authz_config: authz }, _start, use) =>
    authz === undefined ? {} : { plugins: [{ use, with: present(inCamelCase(authz.cedar) ?? {}) }] },
};
