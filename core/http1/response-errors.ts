/** The server violated HTTP/1.1 (RFC 9112). */
export class MalformedResponse extends Error {
  readonly code = 'HTTP_MALFORMED_RESPONSE';
}

/** A body with an unknown content coding, or one that does not match it (RFC 9110 §8.4). */
export class UndecodableBody extends Error {
  readonly code = 'HTTP_UNDECODABLE_BODY';
}
