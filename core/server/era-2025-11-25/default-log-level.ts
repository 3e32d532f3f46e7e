/** What a legacy client sees that never set a level: the server decides (MCP 2025-11-25, logging). */
export const DEFAULT_LOG_LEVEL = 'info';
