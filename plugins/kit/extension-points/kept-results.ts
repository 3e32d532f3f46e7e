import { defineSlot } from '@toolmgr/core';

/** What a gateway keeps for its callers now. */
export interface KeptCount {
  readonly results: number;
  readonly bytes: number;
}

/** Counts results over a budget that are kept. Filled by the plugin that keeps them, read by telemetry. */
export const keptResults = defineSlot<() => KeptCount>('keptResults');
