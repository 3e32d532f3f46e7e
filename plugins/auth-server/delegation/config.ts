import { matcherProblem } from '@toolmgr/plugins/kit/cel';
import { remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const MAX_MATCHER = 4096; // characters
const MAX_LIFESPAN_MS = 24 * 3_600_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Instead of client ids: every delegate client. */
export const ANY_CLIENT = '*';

const text = z.string().min(1, 'expected a text that is not empty').max(2048);
const url = z.string().regex(/^https?:\/\//, 'expected a URL that starts with http:// or https://');

const delegateClient = z.strictObject({
  clientId: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'expected 1 to 128 letters, digits, ".", "_", "~" and "-"')
    .refine((id) => !UUID.test(id), 'expected no UUID: these are ids of clients that register themselves')
    .describe('client id'),
  clientSecretRef: secretReference.describe('client secret'),
  scopes: z.array(text).default([]).describe('scopes that it may request'),
  audiences: z.array(text).optional().describe('resources that it may request; default: all of allowedAudiences'),
});

const jwtBearer = z.strictObject({
  acceptedAudiences: z
    .array(text)
    .min(1)
    .optional()
    .describe('values of `aud` that assertions may have; default: the URL of the token endpoint'),
  maxAssertionAge: goDuration.prefault('5m').describe('maximum time from `iat` to `exp` of an assertion'),
  subjectBindings: z
    .array(
      z.strictObject({
        subject: text.describe('`sub` of the assertion'),
        resources: z.array(text).min(1).describe('resources that it gets tokens for'),
        scopes: z.array(text).default([]).describe('scopes that it may request'),
      }),
    )
    .min(1, 'expected at least one subject')
    .describe('who gets tokens, and for what'),
});

const trustedIssuer = z
  .strictObject({
    issuer: url.describe('`iss` of its tokens'),
    jwksUrl: url.optional().describe('URL of its keys; default: from its discovery document'),
    insecureAllowHTTP: z.boolean().default(false).describe('allow plain http URLs of the issuer'),
    jwksAllowPrivateIP: z.boolean().default(false).describe('allow private addresses of the issuer'),
    expectedAudience: text.optional().describe('required `aud` of tokens that are exchanged'),
    allowedDelegateClients: z
      .array(text)
      .default([])
      .describe('clients of delegateClients that may exchange its tokens, or "*" for all of them'),
    allowMayAct: z.boolean().default(false).describe('accept `may_act` in its tokens (RFC 8693 §4.4); never with "*"'),
    actorClaim: text.optional().describe('claim with the acting client; default: client_id, else azp'),
    allowedActors: z.array(text).default([]).describe('values of that claim that may be acted for'),
    actorMatcher: z
      .string()
      .superRefine((expression, context) => {
        const message = matcherProblem(expression, MAX_MATCHER);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe('CEL expression over `claims` that accepts a token; an expression that fails does not match'),
    jwtBearer: jwtBearer.optional().describe('lets programs exchange assertions of this issuer (RFC 7523)'),
  })
  .superRefine((given, context) => {
    const wrong = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
    const { insecureAllowHTTP: allowHttp, jwksAllowPrivateIP: allowPrivateAddresses } = given;
    for (const key of ['issuer', 'jwksUrl'] as const) {
      const place = given[key];
      const problem = place === undefined ? undefined : remoteUrlProblem(place, { allowHttp, allowPrivateAddresses });
      if (problem !== undefined) wrong(key, withAdvice(problem));
    }
    const exchanges = given.allowedDelegateClients.length > 0;
    if (exchanges && given.expectedAudience === undefined)
      wrong('expectedAudience', 'missing; allowedDelegateClients needs it');
    if (!exchanges && given.jwtBearer === undefined) {
      wrong('allowedDelegateClients', 'expected at least one client, or jwtBearer; otherwise the issuer has no use');
    }
    if (given.allowMayAct && given.allowedDelegateClients.includes(ANY_CLIENT)) {
      wrong(
        'allowMayAct',
        'expected false: with allowedDelegateClients "*" a token could name any client as its actor',
      );
    }
  });

function withAdvice(problem: string): string {
  if (problem.includes('plain http')) return `${problem} (insecureAllowHTTP allows it, for development)`;
  return problem.startsWith('leads to') ? `${problem} (jwksAllowPrivateIP allows it)` : problem;
}

/** Who may act for people. Extensions of the contract. */
export const delegationFields = {
  delegateClients: z
    .array(delegateClient)
    .max(1000)
    .superRefine((clients, context) => {
      const ids = clients.map(({ clientId }) => clientId);
      for (const [index, id] of ids.entries()) {
        if (ids.indexOf(id) < index)
          context.addIssue({ code: 'custom', path: [index, 'clientId'], message: 'is a duplicate' });
      }
    })
    .default([])
    .describe('clients that exchange tokens of people (RFC 8693)'),
  trustedIssuers: z
    .array(trustedIssuer)
    .max(100)
    .superRefine((issuers, context) => {
      const names = issuers.map(({ issuer }) => issuer);
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) < index)
          context.addIssue({ code: 'custom', path: [index, 'issuer'], message: 'is a duplicate' });
      }
    })
    .default([])
    .describe('other issuers whose tokens are exchanged'),
  delegationTokenLifespan: goDuration
    .refine((ms) => ms <= MAX_LIFESPAN_MS, { error: 'expected at most 24h' })
    .prefault('15m')
    .describe('maximum lifetime of delegated tokens'),
};

const delegationConfig = z.strictObject(delegationFields);

/** The parsed configuration. */
export type DelegationConfig = z.output<typeof delegationConfig>;
/** One client of {@link DelegationConfig}. */
export type DelegateClientConfig = DelegationConfig['delegateClients'][number];
/** One issuer of {@link DelegationConfig}. */
export type TrustedIssuerConfig = DelegationConfig['trustedIssuers'][number];
