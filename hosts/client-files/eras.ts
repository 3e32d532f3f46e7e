import type { Backend } from '@toolmgr/core';

/** How the MCP revision of a server is chosen: detected (`auto`) or set. */
export const ERAS = ['auto', 'legacy', 'modern'] as const satisfies readonly NonNullable<Backend['era']>[];

/** One of {@link ERAS}. */
export type EraSetting = (typeof ERAS)[number];
