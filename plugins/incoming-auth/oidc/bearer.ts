const MAX_TOKEN_LENGTH = 16_384;
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i; // RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1)

/** The content of an `Authorization` header. */
export type Bearer = { readonly token: string } | { readonly problem: 'missing' | 'malformed' | 'tooLong' };

/** Parses the header. Another scheme than Bearer counts as a missing token. */
export function readBearer(header: string | undefined): Bearer {
  if (header === undefined || !/^bearer(?: |$)/i.test(header)) return MISSING;
  if (header.length > MAX_TOKEN_LENGTH) return TOO_LONG; // before it is parsed
  const token = BEARER.exec(header)?.[1];
  return token === undefined ? MALFORMED : { token };
}

const MISSING: Bearer = { problem: 'missing' };
const MALFORMED: Bearer = { problem: 'malformed' };
const TOO_LONG: Bearer = { problem: 'tooLong' };
