import type { Plugin } from '@toolmgr/core';

/** Every first-party plugin by address, loaded only when a plan uses it. */
export const catalogue: Readonly<Record<string, () => Promise<{ readonly default: Plugin }>>> = {
  'incoming-auth/anonymous': () => import('./incoming-auth/anonymous/index.ts'),
  'outgoing-auth/header-injection': () => import('./outgoing-auth/header-injection/index.ts'),
  'outgoing-auth/unauthenticated': () => import('./outgoing-auth/unauthenticated/index.ts'),
  audit: () => import('./audit/index.ts'),
  'stores/memory': () => import('./stores/memory/index.ts'),
};
