import { CONNECTION_FIELDS, FIELD_NAME } from '@toolmgr/core';
import { headerValue } from '@toolmgr/plugins/kit/credentials';
import { z } from 'zod';
import { parseJsonPath } from './json-path.ts';
import { OWN_PARAMETERS } from './own-parameters.ts';

const MAX_URL = 2048;

/** Any http or https URL. The provider's rules for addresses are checked by `config.ts`. */
export const webUrl = z
  .string()
  .max(MAX_URL)
  .refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), 'expected an http or https URL')
  .refine((url) => !url.includes('#'), 'expected a URL without a fragment');

/** Where the provider sends the browser back to. The token request repeats it without a query. */
export const redirectUri = webUrl.refine((url) => !url.includes('?'), 'expected a URL without a query');

/** Scopes of RFC 6749 §3.3. */
export const scopes = z.array(
  z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without spaces, quotes and backslashes'),
);

/** `additionalAuthorizationParams`. */
export const authorizationParams = z
  .record(z.string().min(1), z.string())
  .superRefine((given, context) => {
    for (const name of Object.keys(given).filter((each) => OWN_PARAMETERS.includes(each))) {
      context.addIssue({ code: 'custom', path: [name], message: 'the gateway sets this parameter itself; remove it' });
    }
  })
  .describe(`further parameters of the authorization request; not ${OWN_PARAMETERS.join(', ')}`);

/** A path into JSON, such as `user.id` or `access_token|@upstreamjwt|sub`. */
export const path = z.string().superRefine((text, context) => {
  const parsed = parseJsonPath(text);
  if (text !== '' && 'problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
});

const fields = (name: string) =>
  z
    .array(z.string().min(1))
    .min(1)
    .default([name])
    .describe('members of the answer, or paths such as data.id; the first with a value that is not empty wins');

const CONNECTION_NAMES: ReadonlySet<string> = new Set(CONNECTION_FIELDS);

function headerProblem(name: string): string | undefined {
  if (!FIELD_NAME.test(name)) return 'expected a header name (RFC 9110 token)';
  const lower = name.toLowerCase();
  if (lower === 'authorization') return 'the request carries the access token there; remove it';
  return lower === '__proto__' || CONNECTION_NAMES.has(lower)
    ? 'this header belongs to the connection; remove it'
    : undefined;
}

/** `userInfo` of an OAuth 2.0 provider and `userInfoOverride` of an OpenID Connect provider. */
export const userInfo = z.strictObject({
  endpointUrl: webUrl.describe('URL that answers with a JSON object about the person'),
  httpMethod: z.enum(['GET', 'POST']).default('GET').describe('method of the request'),
  additionalHeaders: z
    .record(z.string(), headerValue)
    .default({})
    .superRefine((given, context) => {
      for (const name of Object.keys(given)) {
        const message = headerProblem(name);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .describe('further headers of the request'),
  fieldMapping: z
    .strictObject({ subjectFields: fields('sub'), nameFields: fields('name'), emailFields: fields('email') })
    .prefault({})
    .describe('where the answer has the identity'),
});

/** The parsed `userInfo`. */
export type UserInfoConfig = z.output<typeof userInfo>;
