import {
  type Authorizer,
  type AuthStrategy,
  explainIssues,
  FIELD_VALUE,
  GatewayFault,
  type Slots,
} from '@toolmgr/core';
import { headerName, headerValue, MAX_HEADER_VALUE, readTokenFile } from '@toolmgr/plugins/kit/credentials';
import { readSecret } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';

/** Options of one use: headers, a bearer token, and the strategy that goes before them. */
export const forwardHeadersOptions = z
  .strictObject({
    headers: z.record(headerName, headerValue).default({}).describe('headers with their values, which are no secrets'),
    headersEnv: z
      .record(headerName, z.string().min(1))
      .default({})
      .describe('headers with the names of the secrets that are their values; read once at the start'),
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
    ({ headers, headersEnv, bearerTokenEnv, bearerTokenFile }) =>
      (bearerTokenEnv === undefined && bearerTokenFile === undefined) ||
      !namesOf({ ...headers, ...headersEnv }).includes('authorization'),
    { message: 'headers has Authorization, which the bearer token sets' },
  )
  .refine(({ headers, headersEnv }) => !namesOf(headers).some((name) => namesOf(headersEnv).includes(name)), {
    message: 'a header is in headers and in headersEnv',
  });

/** Creates the strategy. */
export function createForwardHeaders(slots: Pick<Slots, 'authStrategies' | 'secretSources'>): AuthStrategy {
  return {
    async prepare(given, where) {
      const read = forwardHeadersOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, forwardHeadersOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { headers, headersEnv, after } = read.data;
      const inner = await slots.authStrategies.get(after.type).prepare(after.options, `${where}.after`);
      const token = await bearerToken(slots, read.data, where);
      const values = { ...headers, ...(await headerSecrets(slots, headersEnv, where)) };
      const fixed = Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
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

async function headerSecrets(
  slots: Pick<Slots, 'secretSources'>,
  headersEnv: Readonly<Record<string, string>>,
  where: string,
): Promise<Readonly<Record<string, string>>> {
  const read = async ([header, name]: [string, string]): Promise<[string, string]> => {
    const setting = `${where}.headersEnv.${header}`;
    const value = (await readSecret(slots, name, setting)).reveal();
    if (FIELD_VALUE.test(value) && value.length <= MAX_HEADER_VALUE) return [header, value];
    throw new GatewayFault('AUTH_STRATEGY_INVALID', `${setting}: ${name} holds nothing a header can carry`);
  };
  return Object.fromEntries(await Promise.all(Object.entries(headersEnv).map(read)));
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
