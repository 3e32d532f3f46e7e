import type { EraSetting } from '@toolmgr/core';

/** How the MCP revision of a server is chosen: detected (`auto`) or set. */
export const ERAS = ['auto', 'legacy', 'modern'] as const satisfies readonly EraSetting[];
