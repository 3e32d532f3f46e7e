/** Exit code of a proxy process that did nothing because another process has the workload, or it was stopped before. */
export const PROXY_REFUSED = 3;
