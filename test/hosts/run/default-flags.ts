import type { RunFlags } from '../../../hosts/workloads/fields/options.ts';

/** The flags of a `run` without any option. */
export const defaultFlags: RunFlags = {
  group: 'default',
  host: '127.0.0.1',
  env: {},
  proxyMode: 'streamable-http',
  sessionTtl: '2h',
};
