import { type AuthStrategy, explainIssues, GatewayFault } from '@toolmgr/core';
import { z } from 'zod';
import { readSecret, type SecretSlots } from '../../shared/read-secret.ts';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/; // RFC 9110 §5.6.2 token
const ALLOWED_IN_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/; // RFC 9110 §5.5, one byte each
const MAX_VALUE_LENGTH = 16_384; // common servers take no more for all headers of a request

/** Headers that belong to the hop or to MCP itself; setting them would break the request. */
const OWNED_BY_THE_HOP: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'proxy-connection',
  'transfer-encoding',
  'content-length',
  'content-type',
  'content-encoding',
  'accept',
  'accept-encoding',
  'expect',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  '__proto__', // would set nothing
]);

const SENDABLE = 'without line breaks, control characters and letters beyond Latin-1';

/**
 * Options of one use: the header and where its value comes from.
 * Source: vmcp spec §2 outgoingAuth `headerInjection` (only one of the two values).
 */
export const headerInjectionOptions = z
  .strictObject({
    headerName: z
      .string()
      .regex(HEADER_NAME, 'expected a header name (RFC 9110 token)')
      .refine(
        (name) => !OWNED_BY_THE_HOP.has(name.toLowerCase()),
        'this header belongs to the connection, not to credentials',
      )
      .describe('name of the header'),
    headerValue: z
      .string()
      .min(1, 'expected a value that is not empty')
      .refine((value) => ALLOWED_IN_VALUE.test(value), `expected a value ${SENDABLE}`)
      .max(MAX_VALUE_LENGTH, `expected at most ${MAX_VALUE_LENGTH} characters`)
      .optional()
      .describe('the value itself; prefer headerValueEnv for secrets'),
    headerValueEnv: z
      .string()
      .min(1)
      .optional()
      .describe('environment variable that holds the value; read once at the start'),
  })
  .refine((given) => (given.headerValue === undefined) !== (given.headerValueEnv === undefined), {
    message: 'set exactly one of headerValue and headerValueEnv',
  });

/** Makes the strategy. */
export function createHeaderInjection(secrets: SecretSlots): AuthStrategy {
  return {
    async prepare(given, where) {
      const read = headerInjectionOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, headerInjectionOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { headerName, headerValue, headerValueEnv = '' } = read.data;
      const name = headerName.toLowerCase();
      const value = headerValue ?? (await readValue(secrets, headerValueEnv, `${where}.headerValueEnv`));
      return {
        headerNames: [name],
        apply(outbound) {
          outbound.headers[name] = value;
        },
      };
    },
  };
}

async function readValue(secrets: SecretSlots, name: string, setting: string): Promise<string> {
  const value = (await readSecret(secrets, name, setting)).reveal();
  if (ALLOWED_IN_VALUE.test(value) && value.length <= MAX_VALUE_LENGTH) return value;
  throw new GatewayFault(
    'AUTH_STRATEGY_INVALID',
    `${setting}: the value of ${name} is nothing a header can carry; expected one ${SENDABLE}, at most ${MAX_VALUE_LENGTH} characters`,
  );
}
