import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** Lines carry the name of the workload, unless the settings name the component. */
export const fromFlags: FromFlags = {
  where: '--audit-config',
  plan({ name, audit_config: { enabled = true, ...settings } = {} }, _start, use) {
    return enabled ? { plugins: [{ use, with: { component: name, ...settings } }] } : {};
  },
};
