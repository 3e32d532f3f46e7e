/** Log level of a legacy client that never set one; the server may choose it (MCP 2025-11-25, logging). */
export const DEFAULT_LOG_LEVEL = 'info';
