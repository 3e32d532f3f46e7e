/**
 * Time for one answer of a server, at every endpoint of workloads: of `run`, `up` and the manager. Clients have limits of their own,
 * which must not be cut short here. A vmcp file has its own (`operational.timeouts`).
 */
export const CALL_TIMEOUT_MS = 600_000;
