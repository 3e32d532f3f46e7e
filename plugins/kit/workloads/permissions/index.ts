/** What a workload may reach: profiles, mounts, hosts, memory and files that stay hidden. */
export { compileEgressRules, type EgressRules, namedAddresses, plainHost } from './egress-rules.ts';
export { globalIgnoreFile, guardedIgnoreFiles, resolveOverlays } from './ignore-overlays.ts';
export type { MountsRead } from './mounts.ts';
export { readMounts, volumeText } from './mounts.ts';
export { canBeIsolated } from './network-mode.ts';
export { type PermissionProfile, permissionProfile, readProfile } from './profile.ts';
export { MEMORY_FORM, memoryBytes, resourceLimits } from './resource-limits.ts';
