import type { Plugin } from '@toolmgr/core';

/** Every first-party plugin by address, loaded only when a plan uses it. */
export const catalogue: Readonly<Record<string, () => Promise<{ readonly default: Plugin }>>> = {};
