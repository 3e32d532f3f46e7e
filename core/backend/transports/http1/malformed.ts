/** The far side broke HTTP/1.1 (RFC 9112). */
export class MalformedResponse extends Error {
  readonly code = 'HTTP_MALFORMED_RESPONSE';
}
