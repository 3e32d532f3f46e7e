import { z } from 'zod';
import type { RegistryEntry } from './registry-data.ts';

// Shapes of answers about registries. What a registry gives is checked when it is read (entry-schemas.ts); these only describe.

const text = (what: string) => z.string().optional().describe(what);
const texts = (what: string) => z.array(z.string()).optional().describe(what);
const flag = (what: string) => z.boolean().optional().describe(what);
const number = (what: string) => z.int().optional().describe(what);

/** Source: HTTP API spec §2 "EnvVar". */
export const envVarShape = z.object({
  name: z.string().describe('name of the environment variable'),
  description: text('what it is for'),
  required: z.boolean().describe('the server does not start without it'),
  secret: z.boolean().describe('its value is a secret'),
  default: text('value where none is given'),
});

/** Source: HTTP API spec §2 "HeaderDef". */
export const headerDefShape = envVarShape.extend({
  name: z.string().describe('name of the header'),
  choices: texts('the possible values'),
});

/** Source: HTTP API spec §2 "Permissions". */
export const permissionsShape = z.object({
  name: text('name of the profile'),
  network: z
    .object({
      mode: text('network mode of the engine'),
      inbound: z.object({ allow_host: texts('`Host` names of requests to the endpoint') }).optional(),
      outbound: z
        .object({
          allow_host: texts('hosts that may be reached'),
          allow_port: z.array(z.int()).optional().describe('ports that may be reached'),
          insecure_allow_all: flag('any host and port'),
        })
        .optional(),
    })
    .optional()
    .describe('network of the container'),
  privileged: flag('all rights of the machine'),
  read: texts('paths that it may read'),
  write: texts('paths that it may read and write'),
});

/** Source: HTTP API spec §2 "Provenance". */
export const provenanceShape = z.object({
  attestation: z.object({ predicate: z.unknown(), predicate_type: text('type of the predicate') }).optional(),
  cert_issuer: text('issuer of the identity in the certificate'),
  repository_ref: text('branch or tag that was built'),
  repository_uri: text('repository that was built'),
  runner_environment: text('where it was built'),
  signer_identity: text('workflow or person who signed'),
  sigstore_url: text('TUF repository of the trust root'),
});

/** Source: HTTP API spec §2 "ServerMetadata". */
export const serverMetadataShape = z.object({
  kubernetes: z
    .object({
      image: text('image of the server'),
      kind: text('kind of the object'),
      name: text('name of the object'),
      namespace: text('namespace of the object'),
      transport: text('transport of the server'),
      uid: text('uid of the object'),
    })
    .optional(),
  last_updated: text('time of the last change'),
  stars: number('stars of the repository'),
});

/** Source: HTTP API spec §2 "RemoteOAuthConfig". */
export const remoteOAuthShape = z.object({
  authorize_url: text('authorization endpoint'),
  callback_port: number('port of the callback on this machine'),
  client_id: text('client id'),
  issuer: text('issuer'),
  oauth_params: z.record(z.string(), z.string()).optional().describe('further parameters'),
  resource: text('resource indicator'),
  scopes: texts('scopes'),
  token_url: text('token endpoint'),
  use_pkce: flag('PKCE is used'),
});

const described = {
  name: z.string().describe('name of the entry: what `run` takes'),
  title: text('name for people'),
  description: z.string().describe('what the server does'),
  overview: text('longer text'),
  status: text('`active` or `deprecated`'),
  tier: text('`Official` or `Community`'),
  tags: texts('words to find it by'),
  tools: texts('names of its tools'),
  repository_url: text('web address of its repository'),
  metadata: serverMetadataShape.optional().describe('what the registry knows about it'),
  env_vars: z.array(envVarShape).optional().describe('its environment variables'),
  proxy_port: number('port of the proxy'),
  stateless: flag('the server keeps no sessions'),
  custom_metadata: z.record(z.string(), z.unknown()).optional().describe('what its authors say beyond that'),
};

/** Source: HTTP API spec §2 "ImageServer"; the last two members are ours. */
export const imageServerShape = z.object({
  ...described,
  image: z.string().describe('container image, or the package `npx://…`, `uvx://…` or `go://…` that is run'),
  transport: z.string().describe('`stdio`, `sse` or `streamable-http`'),
  target_port: number('port in the container'),
  args: texts('its arguments'),
  permissions: permissionsShape.optional().describe('what it may use'),
  provenance: provenanceShape.optional().describe('who must have signed the image'),
  docker_tags: texts('tags of the image'),
  required_args: texts('arguments that the user must give'),
  not_used: texts('what the registry says and toolmgr does not do'),
});

/** Source: HTTP API spec §2 "RemoteServer". */
export const remoteServerShape = z.object({
  ...described,
  url: z.string().describe('URL of the server'),
  transport: z.string().describe('`sse` or `streamable-http`'),
  headers: z.array(headerDefShape).optional().describe('headers of each request'),
  oauth_config: remoteOAuthShape.optional().describe('how people log in at it'),
});

const servers = z.record(z.string(), imageServerShape).describe('images and packages by name');
const remoteServers = z.record(z.string(), remoteServerShape).describe('remote servers by name');

/** Source: HTTP API spec §2 "RegistryData". Servers of a group are among all servers too. */
export const registryDataShape = z.object({
  version: z.string().describe('version of the document'),
  last_updated: z.string().describe('time of the last change; empty when it is not known'),
  servers,
  remote_servers: remoteServers,
  groups: z
    .array(z.object({ name: z.string(), description: z.string(), servers, remote_servers: remoteServers }))
    .describe('servers that belong together'),
});

/** Source: HTTP API spec §2 "Registry (detail)", `auth_config`. `callback_port` is ours. */
export const authConfigShape = z.object({
  issuer: z.string().describe('issuer of the tokens'),
  client_id: z.string().describe('client id'),
  audience: text('audience of the tokens'),
  scopes: texts('scopes; default `openid offline_access`'),
  callback_port: number('port of the callback on this machine'),
});

/** An entry that is not used. */
export const leftOutShape = z.object({
  name: z.string().describe('name of the entry'),
  reason: z.string().describe('why it cannot be used'),
});

/** An entry that several registries have. */
export const shadowedShape = z.object({
  name: z.string().describe('name of the entry'),
  served_by: z.string().describe('registry whose entry is used'),
  also_in: z.array(z.string()).describe('registries whose entry is not'),
});

/** Source: HTTP API spec §2 "Registry summary"; `problem` and `priority` are ours. */
export const registrySummaryShape = z.object({
  name: z.string().describe('name of the registry; `default` is the merged view of all'),
  type: z.enum(['file', 'url', 'api', 'default']).describe('where it comes from; `default` is the built-in document'),
  source: z.string().describe('its URL or path; empty for the built-in document'),
  version: z.string().describe('version of its document'),
  last_updated: z.string().describe('time of its last change; empty when it is not known'),
  server_count: z.int().describe('number of all its servers: images, packages and remote ones'),
  auth_type: z.enum(['', 'oauth']).describe('how toolmgr signs in at it'),
  auth_status: z
    .enum(['none', 'configured', 'authenticated'])
    .describe('`configured`: a sign-in is set up and was not done yet'),
  auth_config: authConfigShape.optional().describe('where to sign in'),
  priority: z.int().optional().describe('1 is asked first; `default` has none'),
  problem: text('why it is not available now'),
});

/** Source: HTTP API spec §2 "Registry (detail)"; the last three members are ours. */
export const registryDetailShape = registrySummaryShape.extend({
  registry: registryDataShape.describe('its servers'),
  left_out: z.array(leftOutShape).describe('entries that cannot be used'),
  shadowed: z.array(shadowedShape).describe('entries that several registries have'),
  notes: z.array(z.string()).describe('what is to know about this copy, e.g. that a source does not answer'),
});

export type ImageServerAnswer = z.output<typeof imageServerShape>;
export type RemoteServerAnswer = z.output<typeof remoteServerShape>;

/** The images and packages among entries, and the remote servers. */
export function serversOf(entries: readonly RegistryEntry[]): {
  readonly images: readonly ImageServerAnswer[];
  readonly remotes: readonly RemoteServerAnswer[];
} {
  return {
    images: entries.flatMap(({ name, image }) =>
      image === undefined ? [] : [{ name, ...image } as ImageServerAnswer],
    ),
    remotes: entries.flatMap(({ name, remote }) =>
      remote === undefined ? [] : [{ name, ...remote } as RemoteServerAnswer],
    ),
  };
}

/** Servers by name. No name is `__proto__`, because names begin with a letter or digit. */
export function byName<T extends { readonly name: string }>(all: readonly T[]): Record<string, T> {
  return Object.fromEntries(all.map((each) => [each.name, each]));
}
