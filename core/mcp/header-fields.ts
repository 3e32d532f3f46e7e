/** The name of a header field: a token (RFC 9110 §5.6.2). */
export const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The value of a header field, one byte for each character (RFC 9110 §5.5): no character ends the field. */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Fields that the connection sets itself: message framing and hop-by-hop fields (RFC 9110 §7.6.1). */
export const CONNECTION_FIELDS = [
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'proxy-connection',
  'proxy-authorization',
  'transfer-encoding',
  'content-length',
  'expect',
] as const;

/** Fields about the encoding of a body and of the response. */
export const CONTENT_FIELDS = ['content-type', 'content-encoding', 'accept', 'accept-encoding'] as const;
