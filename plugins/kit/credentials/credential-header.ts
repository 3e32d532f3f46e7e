import { CONNECTION_FIELDS, CONTENT_FIELDS, FIELD_NAME, FIELD_VALUE } from '@toolmgr/core';
import { z } from 'zod';

/** Headers that belong to the hop or to MCP itself; setting them would break the request. */
const RESERVED: ReadonlySet<string> = new Set([
  ...CONNECTION_FIELDS,
  ...CONTENT_FIELDS,
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  '__proto__', // would set nothing
]);

/** Name of a header that requests to a backend may carry besides those of HTTP and MCP. */
export const headerName = z
  .string()
  .regex(FIELD_NAME, 'expected a header name (RFC 9110 token)')
  .refine((name) => !RESERVED.has(name.toLowerCase()), 'this header belongs to the connection, not to credentials');

/** Longest value; common servers take no more for all headers of a request. */
export const MAX_HEADER_VALUE = 16_384;

/** Which values can be sent, for messages. */
export const SENDABLE = 'without line breaks, control characters and letters beyond Latin-1';

/** Value of such a header. */
export const headerValue = z
  .string()
  .min(1, 'expected a value that is not empty')
  .refine((value) => FIELD_VALUE.test(value), `expected a value ${SENDABLE}`)
  .max(MAX_HEADER_VALUE, `expected at most ${MAX_HEADER_VALUE} characters`);
