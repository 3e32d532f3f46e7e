import {
  type AuthStrategy,
  CONNECTION_FIELDS,
  CONTENT_FIELDS,
  explainIssues,
  FIELD_NAME,
  FIELD_VALUE,
  GatewayFault,
} from '@toolmgr/core';
import { z } from 'zod';
import { readSecret, type SecretSlots } from '../../shared/read-secret.ts';

const MAX_VALUE_LENGTH = 16_384; // common servers take no more for all headers of a request

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

const SENDABLE = 'without line breaks, control characters and letters beyond Latin-1';

/**
 * Options of one use: the header and where its value comes from.
 * Source: vmcp spec §2 outgoingAuth `headerInjection` (only one of the two values).
 */
export const headerInjectionOptions = z
  .strictObject({
    headerName: z
      .string()
      .regex(FIELD_NAME, 'expected a header name (RFC 9110 token)')
      .refine((name) => !RESERVED.has(name.toLowerCase()), 'this header belongs to the connection, not to credentials')
      .describe('name of the header'),
    headerValue: z
      .string()
      .min(1, 'expected a value that is not empty')
      .refine((value) => FIELD_VALUE.test(value), `expected a value ${SENDABLE}`)
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
  if (FIELD_VALUE.test(value) && value.length <= MAX_VALUE_LENGTH) return value;
  throw new GatewayFault(
    'AUTH_STRATEGY_INVALID',
    `${setting}: the value of ${name} is nothing a header can carry; expected one ${SENDABLE}, at most ${MAX_VALUE_LENGTH} characters`,
  );
}
