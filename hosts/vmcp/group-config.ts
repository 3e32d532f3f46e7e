import type { VmcpConfig } from './config-schema.ts';

/** The configuration of `serve --group`: anonymous, no credentials, names with the workload in front. */
export function groupConfig(group: string): VmcpConfig {
  return {
    name: group,
    groupRef: group,
    incomingAuth: { type: 'anonymous' },
    outgoingAuth: { source: 'inline', default: { type: 'unauthenticated' } },
    aggregation: { conflictResolution: 'prefix', conflictResolutionConfig: { prefixFormat: '{workload}_' } },
  };
}
