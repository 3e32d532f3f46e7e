/** Credentials that a gateway sends to a backend: cached, requested once at a time, renewed after a refusal. */
export { bearerValue } from './bearer-value.ts';
export { type CredentialCache, createCredentialCache, type Issued } from './credential-cache.ts';
export { headerName, headerValue, MAX_HEADER_VALUE, SENDABLE } from './credential-header.ts';
export { createCredentialKeys } from './credential-keys.ts';
export { createExchangeAuthorizer } from './exchanged-credential.ts';
export { asksForScopes } from './scope-challenge.ts';
export { OWN_TOKENS, type SubjectTokens, upstreamSubjects } from './subject-tokens.ts';
export { readTokenFile } from './token-file.ts';
export { unlessAborted } from './unless-aborted.ts';
