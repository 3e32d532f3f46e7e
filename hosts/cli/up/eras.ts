import type { EraSetting } from '@toolmgr/core';

/** How the MCP revision of a server is found: asked for, or said. */
export const ERAS = ['auto', 'legacy', 'modern'] as const satisfies readonly EraSetting[];
