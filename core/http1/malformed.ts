/** The far side broke HTTP/1.1 (RFC 9112). */
export class MalformedResponse extends Error {
  readonly code = 'HTTP_MALFORMED_RESPONSE';
}

/** A body in a content coding that is not known, or that it is not in (RFC 9110 §8.4). */
export class UndecodableBody extends Error {
  readonly code = 'HTTP_UNDECODABLE_BODY';
}
