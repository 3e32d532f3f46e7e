import { SECRET_KEY } from '@toolmgr/plugins/kit/secrets';
import { groupName, resourceProblem, workloadName } from '@toolmgr/plugins/kit/workloads';
import { permissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { z } from 'zod';
import { forwardedName, forwardedValue } from './forwarded-header.ts';
import { runtimeConfig } from './runtime-config.ts';
import { headerDef, secretRef } from './shapes.ts';

const text = z.string().max(8_192);
const texts = z.array(text).max(1_024);
const textMap = z.record(z.string().min(1).max(256), z.string().max(65_536));
const port = z.int().min(0).max(65_535);

/** A name of a stored secret, as a text. */
const secretName = z.union([z.literal(''), z.string().regex(SECRET_KEY)], {
  error: 'expected the name of a stored secret: a secret itself is not accepted here',
});

const oauthConfig = z.strictObject({
  issuer: text.optional().describe('issuer of the authorization server'),
  authorize_url: text.optional().describe('authorization endpoint'),
  token_url: text.optional().describe('token endpoint'),
  client_id: text.optional().describe('registered client; absent: one is registered'),
  client_secret: secretRef.optional().describe('secret of the client'),
  bearer_token: secretRef.optional().describe('token that is sent instead of a login'),
  scopes: texts.optional().describe('scopes that are asked for'),
  use_pkce: z
    .literal(true, { error: 'expected true: there is no login without PKCE' })
    .optional()
    .describe('PKCE is always used'),
  oauth_params: textMap.optional().describe('more parameters of the authorization request'),
  callback_port: z
    .int()
    .refine((given) => given === 0 || (given >= 1_024 && given <= 65_535), 'expected 0, or a port from 1024 to 65535')
    .optional()
    .describe('port of the callback; 0: any free one'),
  skip_browser: z.boolean().optional().describe('no browser is opened; the URL is only shown'),
  resource: z
    .string()
    .refine((given) => given === '' || resourceProblem(given) === undefined, {
      error: ({ input }) => resourceProblem(`${input}`) ?? 'expected an absolute URI',
    })
    .optional()
    .describe('resource indicator (RFC 8707); default: from `url`'),
});

const oidc = z.strictObject({
  issuer: text.optional().describe('issuer of the tokens of callers'),
  audience: text.optional().describe('audience that tokens must have'),
  jwks_url: text.optional().describe('keys of the issuer'),
  introspection_url: text.optional().describe('introspection endpoint, for opaque tokens'),
  client_id: text.optional().describe('client for introspection'),
  client_secret: secretName.optional().describe('name of the stored secret of that client'),
  scopes: texts.optional().describe('scopes that the endpoint announces'),
});

/** The members of a workload that can be given and changed. Source: reference workload-api §2.7. */
export const workloadMembers = {
  image: text.optional().describe('name of a registry entry, image, or package: `uvx://`, `npx://`, `go://`'),
  url: text.optional().describe('URL of a remote server'),
  transport: z.enum(['', 'stdio', 'sse', 'streamable-http']).optional().describe('transport of the server'),
  proxy_mode: z
    .enum(['', 'sse', 'streamable-http'], { error: 'expected streamable-http, or sse (deprecated)' })
    .optional()
    .describe('what clients of a stdio server are served'),
  host: text.optional().describe('address of the endpoint; default 127.0.0.1'),
  proxy_port: port.optional().describe('port of the endpoint; 0: any free one, or on an edit the present one'),
  target_port: port.optional().describe('port of the server in its container'),
  cmd_arguments: texts.optional().describe('arguments of the server'),
  env_vars: textMap.optional().describe('variables; values that look secret are not shown'),
  secrets: z.array(secretRef).max(256).optional().describe('stored secrets and the variables that get them'),
  volumes: texts.optional().describe('mounts: `host:container[:ro]`'),
  permission_profile: permissionProfile.optional().describe('rights of the container; default: profile `network`'),
  network_isolation: z.boolean().optional().describe('default true for images'),
  allow_docker_gateway: z.boolean().optional().describe('the isolated container may reach the gateway of its network'),
  trust_proxy_headers: z.boolean().optional().describe('`X-Forwarded-*` of requests count'),
  authz_config: text.optional().describe('absolute path of an authorization file'),
  oidc: oidc.optional().describe('who may call the endpoint'),
  tools: texts.optional().describe('tools that are shown; empty: all'),
  tools_override: z
    .record(z.string().min(1), z.strictObject({ name: text.optional(), description: text.optional() }))
    .optional()
    .describe('other names and descriptions of tools, by their real names'),
  group: groupName.optional().describe('its group, which must exist; default `default`'),
  runtime_config: runtimeConfig.optional().describe('how the image of a package is made'),
  oauth_config: oauthConfig.optional().describe('login at a remote server'),
  headers: z.array(headerDef).max(64).optional().describe('headers that a remote server needs'),
  header_forward: z
    .strictObject({
      add_plaintext_headers: z.record(forwardedName, forwardedValue).optional().describe('headers with their values'),
      add_headers_from_secret: z
        .record(forwardedName, z.string().regex(SECRET_KEY, 'expected the name of a stored secret'))
        .optional()
        .describe('headers with names of stored secrets'),
    })
    .optional()
    .describe('headers of requests to a remote server'),
  registry: z.enum(['', 'default'], { error: 'expected default' }).optional().describe('registry of `server`'),
  server: text.optional().describe('name of a registry entry, which fills what is not given'),
};

/** The body of an edit: what `GET` answers can be sent back. */
export const editBody = z.strictObject({
  name: z.string().optional().describe('the name, which cannot be changed'),
  ...workloadMembers,
});

/** The body of a creation. */
export const createBody = z
  .strictObject({
    name: workloadName.describe('name of the workload'),
    ...workloadMembers,
  })
  .refine(({ registry, server }) => Boolean(registry) === Boolean(server), {
    path: ['server'],
    message: 'expected registry and server together',
  });

/** A workload as a request gives it. */
export type WorkloadBody = z.output<typeof editBody>;
