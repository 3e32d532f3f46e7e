import { serviceUrlProblem } from '@toolmgr/plugins/kit/embedding';
import { durationMs, goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const MAX_CLAIMS = 64;
const MAX_CACHE_MS = 86_400_000;

const shape = z.strictObject({
  protocol: z
    .enum(['authzen', 'opa'])
    .default('authzen')
    .describe('`authzen`: OpenID AuthZEN Authorization API 1.0; `opa`: the Data API of Open Policy Agent'),
  url: z
    .string()
    .superRefine((url, context) => {
      const problem = serviceUrlProblem(url);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .describe(
      '`authzen`: base URL of the policy server; `opa`: URL of the rule, e.g. `http://opa:8181/v1/data/mcp/allow`',
    ),
  policyTokenEnv: z
    .string()
    .min(1)
    .optional()
    .describe('secret with the bearer token for the policy server; needs https, or a policy server on this machine'),
  claims: z
    .array(z.string().min(1))
    .max(MAX_CLAIMS)
    .default([])
    .describe('claims of the caller that the policy server gets, e.g. `groups`; it always gets issuer and subject'),
  includeArguments: z.boolean().default(false).describe('the policy server gets the arguments of calls'),
  timeout: goDuration.prefault('2s').describe('timeout of one question; then calls are refused with 503'),
  cacheFor: z
    .string()
    .regex(/^\d{1,6}(?:ms|s|m)$/, 'expected a duration such as 10s or 500ms, 0s for none')
    .transform((text) => Math.min(durationMs(text) ?? 0, MAX_CACHE_MS))
    .prefault('10s')
    .describe('how long an answer is used again for the same question; `0s`: never, a day at most'),
});

/** The section `decisionPoint`. */
export const decisionPointConfig = shape.superRefine(({ url, policyTokenEnv }, context) => {
  if (policyTokenEnv === undefined || !URL.canParse(url)) return;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || LOOPBACK.has(hostname)) return;
  context.addIssue({
    code: 'custom',
    path: ['url'],
    message: 'expected https, because policyTokenEnv would be sent in the clear',
  });
});

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The parsed configuration; durations in milliseconds. */
export type DecisionPointConfig = z.output<typeof decisionPointConfig>;
