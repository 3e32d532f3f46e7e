import type { Caller } from '../../contract/caller.ts';

/** The gateway's own name towards backends, where no caller is behind a request. */
export const DISCOVERY_CALLER: Caller = { issuer: '', subject: 'gateway', key: '\u0000gateway', claims: {} };
