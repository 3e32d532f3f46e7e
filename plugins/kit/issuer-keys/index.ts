/** The published keys of an issuer of tokens: fetched once at a time, renewed, with pauses between failures. */
export { createFetchKeys, type FetchKeys, usableKeys } from './fetch-keys.ts';
export { createSigningKeys, type Keys, type SigningKeys } from './signing-keys.ts';
