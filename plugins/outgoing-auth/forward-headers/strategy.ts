import {
  type Authorizer,
  type AuthStrategy,
  explainIssues,
  FIELD_VALUE,
  GatewayFault,
  type Slots,
} from '@toolmgr/core';
import { z } from 'zod';
import { headerName, headerValue } from '../../shared/credential-header.ts';
import { readSecret } from '../../shared/read-secret.ts';
import { readTokenFile } from '../../shared/token-file.ts';

/** Options of one use: headers, a bearer token, and the strategy that goes before them. */
export const forwardHeadersOptions = z
  .strictObject({
    headers: z.record(headerName, headerValue).default({}).describe('headers with their values, which are no secrets'),
    bearerTokenEnv: z.string().min(1).optional().describe('secret with the bearer token; read once at the start'),
    bearerTokenFile: z.string().min(1).optional().describe('file with the bearer token; read once at the start'),
    after: z
      .strictObject({
        type: z.string().min(1).describe('name in the slot authStrategies'),
        options: z.unknown().optional().describe('its options'),
      })
      .default({ type: 'unauthenticated' })
      .describe('strategy that sets its headers first; the headers here win'),
  })
  .refine(({ bearerTokenEnv, bearerTokenFile }) => bearerTokenEnv === undefined || bearerTokenFile === undefined, {
    message: 'set only one of bearerTokenEnv and bearerTokenFile',
  })
  .refine(
    ({ headers, bearerTokenEnv, bearerTokenFile }) =>
      (bearerTokenEnv === undefined && bearerTokenFile === undefined) || !namesOf(headers).includes('authorization'),
    { message: 'headers has Authorization, which the bearer token sets' },
  );

/** Creates the strategy. */
export function createForwardHeaders(slots: Pick<Slots, 'authStrategies' | 'secretSources'>): AuthStrategy {
  return {
    async prepare(given, where) {
      const read = forwardHeadersOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, forwardHeadersOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { headers, after } = read.data;
      const inner = await slots.authStrategies.get(after.type).prepare(after.options, `${where}.after`);
      const token = await bearerToken(slots, read.data, where);
      const fixed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      return withHeaders(inner, token === undefined ? fixed : { ...fixed, authorization: `Bearer ${token}` });
    },
  };
}

function withHeaders(inner: Authorizer, fixed: Readonly<Record<string, string>>): Authorizer {
  return {
    ...inner,
    headerNames: [...new Set([...(inner.headerNames ?? []), ...Object.keys(fixed)])],
    apply(outbound, authContext) {
      const applied = inner.apply(outbound, authContext);
      if (applied instanceof Promise) return applied.then(() => void Object.assign(outbound.headers, fixed));
      Object.assign(outbound.headers, fixed);
    },
  };
}

async function bearerToken(
  slots: Pick<Slots, 'secretSources'>,
  { bearerTokenEnv: name, bearerTokenFile: file }: z.output<typeof forwardHeadersOptions>,
  where: string,
): Promise<string | undefined> {
  if (file !== undefined) return readTokenFile(file, `${where}.bearerTokenFile`).reveal();
  if (name === undefined) return undefined;
  const token = (await readSecret(slots, name, `${where}.bearerTokenEnv`)).reveal();
  if (FIELD_VALUE.test(token)) return token;
  throw new GatewayFault('AUTH_STRATEGY_INVALID', `${where}.bearerTokenEnv: ${name} holds nothing a header can carry`);
}

function namesOf(headers: object): string[] {
  return Object.keys(headers).map((name) => name.toLowerCase());
}
