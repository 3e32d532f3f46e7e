import { z } from 'zod';
import { durationMs } from '../../../settings/go-duration.ts';
import { secretReference } from './secret-reference.ts';

const text = z.string().min(1);
const url = z.url({ protocol: /^https?$/, error: 'expected an https URL' });
const port = z.int().min(1024, 'expected a port from 1024 to 65535').max(65_535);

/** What a login leaves: references to its secrets, and what is not secret. Removed when the login is. */
const login = {
  /** The client that was registered, and the issuer it is registered with. */
  cached_client_id: text.optional(),
  cached_cimd_client_id: text.optional(),
  cached_client_secret_ref: secretReference.optional(),
  cached_secret_expiry: z.iso.datetime().optional(),
  cached_token_auth_method: z.enum(['none', 'client_secret_basic', 'client_secret_post']).optional(),
  cached_reg_client_uri: text.optional(),
  cached_reg_token_ref: secretReference.optional(),
  cached_dcr_callback_port: port.optional(),
  cached_refresh_token_ref: secretReference.optional(),
  /** End of the access token. */
  cached_token_expiry: z.iso.datetime().optional(),
  // ours
  cached_access_token_ref: secretReference.optional(),
  /** Absent for endpoints that were configured. */
  cached_issuer: text.optional(),
  cached_token_url: text.optional(),
  cached_resource: text.optional(),
  /** What the login requested, and what the server has asked for since. */
  cached_scopes: z.array(text).optional(),
  cached_lacking_scopes: z.array(text).optional(),
};

const endpoints = { issuer: url.optional(), authorize_url: url.optional(), token_url: url.optional() };

/**
 * How a remote server is authenticated to.
 *
 * Shape: the field names of the contract. `required` and six of the `cached_` fields are ours.
 * Source: workload API spec §2 "RemoteAuth".
 */
export const remoteAuthConfig = z
  .strictObject({
    bearer_token: secretReference.optional(),
    bearer_token_file: text.optional(),
    /** A login also when the server does not ask for one. */
    required: z.boolean().optional(),
    ...endpoints,
    client_id: text.optional(),
    client_secret: secretReference.optional(),
    client_secret_file: text.optional(),
    resource: z
      .string()
      .refine((given) => resourceProblem(given) === undefined, { error: ({ input }) => resourceProblem(`${input}`) })
      .optional(),
    scopes: z.array(text).optional(),
    scope_param_name: text.optional(),
    oauth_params: z.record(z.string(), z.string()).optional(),
    callback_port: port.optional(),
    skip_browser: z.boolean().optional(),
    timeout: z
      .string()
      .refine((given) => (durationMs(given) ?? 0) > 0, 'expected a Go duration above zero such as 30s or 5m')
      .optional(),
    use_pkce: z.literal(true, { error: 'expected true: there is no login without PKCE' }).optional(),
    ...login,
  })
  .superRefine((given, context) => {
    const problem = conflictIn(given);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** Settings for the login at a remote server, and what the last login left. */
export type RemoteAuthConfig = z.output<typeof remoteAuthConfig>;

/** Parameters of an authorization request that `oauth_params` cannot set. */
const RESERVED = ['response_type', 'client_id', 'redirect_uri', 'state', 'resource', 'scope', 'nonce', 'prompt'];

function conflictIn(given: Readonly<Record<string, unknown>>): string | undefined {
  const has = (name: string): boolean => given[name] !== undefined;
  const pair = EXCLUDING.find((names) => names.every(has));
  if (pair !== undefined) return `${pair.join(' and ')} exclude each other`;
  const missing = NEEDED.find(([name, needed]) => has(name) && !has(needed));
  if (missing !== undefined) return `${missing[0]} needs ${missing[1]}`;
  const oauth = OAUTH_FIELDS.find(has);
  if (oauth !== undefined && (has('bearer_token') || has('bearer_token_file'))) {
    return `${oauth} has no effect beside a bearer token`;
  }
  const extra = Object.keys(given.oauth_params ?? {}).find(
    (name) => RESERVED.includes(name) || name.startsWith('code_') || name === given.scope_param_name,
  );
  return extra === undefined ? undefined : `oauth_params.${extra} is set by the login itself`;
}

const EXCLUDING = [
  ['issuer', 'authorize_url'],
  ['issuer', 'token_url'],
  ['client_secret', 'client_secret_file'],
  ['bearer_token', 'bearer_token_file'],
] as const;

const NEEDED = [
  ['authorize_url', 'token_url'],
  ['token_url', 'authorize_url'],
  // without metadata there is no registration endpoint
  ['authorize_url', 'client_id'],
  ['client_secret', 'client_id'],
  ['client_secret_file', 'client_id'],
] as const;

const OAUTH_FIELDS = [
  ...['required', 'issuer', 'authorize_url', 'token_url', 'client_id', 'client_secret', 'client_secret_file'],
  ...['resource', 'scopes', 'scope_param_name', 'oauth_params', 'callback_port', 'skip_browser', 'timeout'],
];

/** Why a text is no resource indicator (RFC 8707 §2); `undefined` when it is one. */
export function resourceProblem(given: string): string | undefined {
  const parsed = URL.parse(given);
  if (parsed === null || parsed.host === '') return 'expected an absolute URI with scheme and host';
  return given.includes('#') ? 'expected a URI without fragment' : undefined;
}

/** The settings without what a login left; `undefined` when nothing remains. */
export function withoutLogin(config: RemoteAuthConfig | undefined): RemoteAuthConfig | undefined {
  const kept = Object.entries(config ?? {}).filter(([name]) => !Object.hasOwn(login, name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
