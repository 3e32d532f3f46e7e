/** The echo backend serves every path, so one process is several backends. The configuration files have the same URLs. */
export const BACKEND_PORT = 4490;

const far = `http://127.0.0.1:${BACKEND_PORT}/mcp`;

export const BACKEND_URLS = {
  one: { far },
  three: { far, near: far.replace('/mcp', '/near/mcp'), middle: far.replace('/mcp', '/middle/mcp') },
} as const;
