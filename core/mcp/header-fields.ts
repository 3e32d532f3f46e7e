/** The name of a header field: a token (RFC 9110 §5.6.2). */
export const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The value of a header field, one byte for each character (RFC 9110 §5.5): nothing in it can end the field. */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What the connection sets itself: where a message begins and ends, and what is for this hop only (RFC 9110 §7.6.1). */
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

/** What says how a body is written and how the answer may be. */
export const CONTENT_FIELDS = ['content-type', 'content-encoding', 'accept', 'accept-encoding'] as const;
