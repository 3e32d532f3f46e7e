/** Whether a Content-Type is `application/json`, parameters aside (RFC 9110 §8.3.1). */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const end = contentType.indexOf(';');
  const type = end === -1 ? contentType : contentType.slice(0, end);
  return type.trim().toLowerCase() === 'application/json';
}

/**
 * Whether the client can read an event stream: it names `text/event-stream`.
 * A wildcard does not count: it is what clients send that never thought of streams.
 */
export function acceptsStream(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes('text/event-stream') === true;
}
