import { type Call, defineHook } from '@toolmgr/core';

/** A detector found something in a call or its result. Says how often and what was done, never what was found. */
export interface DataFound {
  readonly call: Call;
  readonly direction: 'arguments' | 'results';
  readonly detector: string;
  readonly action: 'mask' | 'block' | 'report';
  readonly count: number;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** Called by the plugin that searches calls for secrets and personal data. */
export const dataFound = defineHook<DataFound>('dataFound', 'event');
