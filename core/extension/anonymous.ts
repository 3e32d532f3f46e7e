import type { Caller } from '../contract/caller.ts';

/** The caller without an identity: no issuer, no claims. Its key is none that an issuer and a subject can have. */
export const ANONYMOUS: Caller = { issuer: '', subject: 'anonymous', key: '\0anonymous', claims: {} };
