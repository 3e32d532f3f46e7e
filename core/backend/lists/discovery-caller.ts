import type { Caller } from '../../contract/caller.ts';

/** The caller of requests that the gateway makes for itself. */
export const DISCOVERY_CALLER: Caller = { issuer: '', subject: 'gateway', key: '\u0000gateway', claims: {} };
