import { fieldPath } from '@toolmgr/core';
import { isImageReference } from '@toolmgr/plugins/kit/oci';
import { permissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { z } from 'zod';
import { hasControlCharacters, isPackageTarget, isSettableVariable, shownText } from './entry-text.ts';
import { isWebUrl } from './web-url.ts';

const MAX_LIST = 1_000;

const shown = (max: number) => z.string().transform((text) => shownText(text).slice(0, max));
/** A text that a program gets as it is. */
const plain = z
  .string()
  .max(32_768)
  .refine((text) => !hasControlCharacters(text), { error: 'has control characters' });
const shortList = z.array(shown(200)).max(MAX_LIST);
const port = z.int().min(1).max(65_535);
/** The name of a tool, as it is compared with `--tools`. */
const toolName = z
  .string()
  .max(256)
  .refine((text) => !hasControlCharacters(text), { error: 'has control characters' });

/**
 * A variable of a server.
 *
 * Source: HTTP API spec §2 "EnvVar".
 */
const envVar = z
  .object({
    name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'is not the name of a variable' }),
    description: shown(1_000).optional(),
    required: z.boolean().default(false),
    secret: z.boolean().default(false),
    default: plain.optional(),
  })
  .refine(({ name, required, default: value }) => isSettableVariable(name) || (!required && value === undefined), {
    error: ({ input }) =>
      `a registry must not set or ask for ${(input as { name: string }).name}, which changes how programs are loaded or reach the network`,
  });

/** Source: HTTP API spec §2 "HeaderDef". */
const headerDef = z.object({
  name: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, { error: 'is not the name of a header' })
    .refine((name) => !/^(host|connection|content-length|transfer-encoding|mcp-.*)$/i.test(name), {
      error: 'is a header of the protocol',
    }),
  description: shown(1_000).optional(),
  required: z.boolean().default(false),
  secret: z.boolean().default(false),
  default: plain.optional(),
  choices: z.array(plain).max(100).optional(),
});

/**
 * Who must have signed an image. An absent member is not checked.
 *
 * Source: HTTP API spec §2 "Provenance"; reference run-command §6.
 */
export const provenance = z.object({
  /** Host or URL of the TUF repository with the trust root. */
  sigstore_url: plain.optional(),
  repository_uri: plain.optional(),
  repository_ref: plain.optional(),
  signer_identity: plain.optional(),
  runner_environment: plain.optional(),
  cert_issuer: plain.optional(),
  attestation: z.object({ predicate_type: plain.optional(), predicate: z.unknown().optional() }).optional(),
});

/** Source: HTTP API spec §2 "RemoteOAuthConfig". */
const remoteOAuth = z.object({
  issuer: plain.optional(),
  authorize_url: plain.optional(),
  token_url: plain.optional(),
  client_id: plain.optional(),
  scopes: z.array(plain).max(200).optional(),
  resource: plain.optional(),
  callback_port: port.optional(),
  oauth_params: z.record(z.string(), plain).optional(),
  use_pkce: z.boolean().optional(),
});

/** Source: HTTP API spec §2 "ServerMetadata". */
const metadata = z.object({
  last_updated: shown(64).optional(),
  stars: z.int().min(0).optional(),
  kubernetes: z
    .object({
      kind: shown(256).optional(),
      name: shown(256).optional(),
      namespace: shown(256).optional(),
      uid: shown(256).optional(),
      image: shown(512).optional(),
      transport: shown(64).optional(),
    })
    .optional(),
});

const described = {
  title: shown(200).optional(),
  description: shown(2_000).default(''),
  overview: shown(20_000).optional(),
  status: shown(64).optional(),
  tier: shown(64).optional(),
  tags: shortList.optional(),
  tools: z.array(toolName).max(MAX_LIST).optional(),
  // pages show it as a link
  repository_url: shown(500)
    .transform((url) => (isWebUrl(url) ? url : undefined))
    .optional(),
  metadata: metadata.optional(),
  env_vars: z.array(envVar).max(MAX_LIST).optional(),
  proxy_port: port.optional(),
  stateless: z.boolean().optional(),
  custom_metadata: z.record(z.string(), z.unknown()).optional(),
};

/**
 * A server that is an image or a package. Unknown members are left out.
 *
 * Source: HTTP API spec §2 "ImageServer". `image` may also be a package (`npx://`, `uvx://`, `go://`), and the last two
 * members are ours.
 */
export const imageServer = z.object({
  ...described,
  image: z.string().refine((image) => isImageReference(image) || isPackageTarget(image), {
    error: 'expected a container image or npx://PACKAGE, uvx://PACKAGE or go://PACKAGE',
  }),
  transport: z.enum(['stdio', 'sse', 'streamable-http']),
  target_port: port.optional(),
  args: z.array(plain).max(MAX_LIST).optional(),
  permissions: permissionProfile
    .refine((profile) => !hasControlCharacters(textsIn(profile)), {
      error: 'has control characters',
    })
    .optional(),
  provenance: provenance.optional(),
  docker_tags: shortList.optional(),
  /** Arguments without a value, which the user must give. */
  required_args: shortList.optional(),
  /** What the document says and toolmgr does not do. */
  not_used: shortList.optional(),
});

/** All texts of a value; its depth is limited by the document. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.values(value).map(textsIn).join(' ') : '';
}

/** A server at a URL. Source: HTTP API spec §2 "RemoteServer". */
export const remoteServer = z.object({
  ...described,
  url: z.string().max(2_000),
  transport: z.enum(['sse', 'streamable-http']),
  headers: z.array(headerDef).max(100).optional(),
  oauth_config: remoteOAuth.optional(),
});

export type EnvVar = z.output<typeof envVar>;
export type HeaderDef = z.output<typeof headerDef>;
export type Provenance = z.output<typeof provenance>;
export type ImageServer = z.output<typeof imageServer>;
export type RemoteServer = z.output<typeof remoteServer>;

/** The first fault of an entry, without its value. */
export function issueText(error: z.ZodError): string {
  const [issue] = error.issues;
  const path = fieldPath(issue?.path ?? []);
  return shownText(`${path === '' ? '' : `${path}: `}${issue?.message ?? 'is not valid'}`).slice(0, 300);
}
