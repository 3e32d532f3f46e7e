import { type AuthStrategy, explainIssues, FIELD_VALUE, GatewayFault } from '@toolmgr/core';
import { headerName, headerValue, MAX_HEADER_VALUE, SENDABLE } from '@toolmgr/plugins/kit/credentials';
import { readSecret, type SecretSlots } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';

/**
 * Options: the header and the source of its value.
 * Source: vmcp spec §2 outgoingAuth `headerInjection` (only one of the two values).
 */
export const headerInjectionOptions = z
  .strictObject({
    headerName: headerName.describe('name of the header'),
    headerValue: headerValue.optional().describe('the value itself; prefer headerValueEnv for secrets'),
    headerValueEnv: z
      .string()
      .min(1)
      .optional()
      .describe('environment variable with the value; read once at the start'),
    valuePrefix: z
      .string()
      .regex(/^[\x20-\x7e]{1,64}$/, 'expected 1 to 64 visible characters and spaces')
      .optional()
      .describe('text before the value, such as `Bearer ` (extension)'),
  })
  .refine((given) => (given.headerValue === undefined) !== (given.headerValueEnv === undefined), {
    message: 'set exactly one of headerValue and headerValueEnv',
  });

/** Creates the strategy. */
export function createHeaderInjection(secrets: SecretSlots): AuthStrategy {
  return {
    async prepare(given, where) {
      const read = headerInjectionOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, headerInjectionOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { headerName, headerValue, headerValueEnv = '', valuePrefix = '' } = read.data;
      const name = headerName.toLowerCase();
      const value =
        valuePrefix + (headerValue ?? (await readValue(secrets, headerValueEnv, `${where}.headerValueEnv`)));
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
  if (FIELD_VALUE.test(value) && value.length <= MAX_HEADER_VALUE) return value;
  throw new GatewayFault(
    'AUTH_STRATEGY_INVALID',
    `${setting}: the value of ${name} is not a valid header value; expected one ${SENDABLE}, at most ${MAX_HEADER_VALUE} characters`,
  );
}
