import type { VmcpConfig } from '../config-schema.ts';

/** Whether the operator wrote the file for a pod. */
export function isPod(config: VmcpConfig): boolean {
  return (config as VmcpConfig & { readonly kubernetes?: unknown }).kubernetes !== undefined;
}
