import { shortened } from '@toolmgr/core';
import type { EnvVar, HeaderDef, ImageServer, RemoteServer } from '../entry-schemas.ts';
import type { RegistryEntry } from '../registry-data.ts';
import { isWebUrl } from '../web-url.ts';
import type { ServerListed } from './read-record.ts';
import type { ServerRecord } from './record-shapes.ts';

/** Namespace of records that are made from entries without one, and key of what records say beyond their schema. */
export const OWN_NAMESPACE = 'dev.toolmgr';

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';
const MAX_DESCRIPTION = 100;
const MAX_TITLE = 100;

/**
 * The record of an entry that has none. What the record's schema has no member for is in `_meta`, so that a reader of the
 * record gets the same entry.
 *
 * Source: reference workload-api §6.1.
 */
export function recordFromEntry(entry: RegistryEntry): ServerListed {
  const { name, image, remote } = entry;
  const server = image ?? remote;
  const { title, description, repository_url: repository } = server;
  const key = image === undefined ? remote.url : packageOf(image).identifier;
  const record: ServerRecord = {
    $schema: SCHEMA,
    name: publishedName(name),
    ...(title === undefined || title === '' ? {} : { title: title.slice(0, MAX_TITLE) }),
    description: shortened(description === '' ? (title ?? name) : description, MAX_DESCRIPTION),
    version: (image === undefined ? undefined : versionOf(image)) ?? '1.0.0',
    ...(repository === undefined || !isWebUrl(repository)
      ? {}
      : { repository: { url: repository, source: sourceOf(repository) } }),
    ...(image === undefined ? { remotes: [remoteOf(remote)] } : { packages: [packageOf(image)] }),
    _meta: { [PUBLISHER]: { [OWN_NAMESPACE]: { [key]: extensionOf(server, image === undefined) } } },
  };
  const isDeprecated = server.status?.toLowerCase() === 'deprecated';
  return { record, state: { status: isDeprecated ? 'deprecated' : 'active' } };
}

/** The name of an entry in the listing, where every name has a namespace. */
export function publishedName(name: string): string {
  return name.includes('/') ? name : `${OWN_NAMESPACE}/${name}`;
}

function sourceOf(repository: string): string {
  const { hostname } = new URL(repository);
  const known = /^(?:www\.)?(github|gitlab)\.com$/.exec(hostname)?.[1];
  return known ?? hostname;
}

type RecordPackage = NonNullable<ServerRecord['packages']>[number];

const SCHEMES: Readonly<Record<string, Pick<RecordPackage, 'registryType' | 'runtimeHint'>>> = {
  npx: { registryType: 'npm', runtimeHint: 'npx' },
  uvx: { registryType: 'pypi', runtimeHint: 'uvx' },
  go: { registryType: 'go', runtimeHint: 'go' },
};

function packageOf(image: ImageServer): RecordPackage {
  const { kind, identifier, version } = partsOf(image);
  return {
    ...(kind ?? { registryType: 'oci', runtimeHint: 'docker' }),
    identifier,
    // the tag of an image is in its identifier
    ...(kind === undefined || version === undefined ? {} : { version }),
    transport: transportOf(image),
    ...argumentsOf(image),
    ...(image.env_vars === undefined ? {} : { environmentVariables: image.env_vars.map(inputOf) }),
  };
}

function versionOf(image: ImageServer): string | undefined {
  return partsOf(image).version;
}

function partsOf({ image }: ImageServer): {
  readonly kind: (typeof SCHEMES)[string] | undefined;
  readonly identifier: string;
  readonly version: string | undefined;
} {
  const [, scheme = '', target = ''] = /^(npx|uvx|go):\/\/(.+)$/.exec(image) ?? [];
  const kind = SCHEMES[scheme];
  const at = target.lastIndexOf('@');
  const hasVersion = at > 0;
  const found = kind === undefined ? versionOfImage(image) : hasVersion ? target.slice(at + 1) : undefined;
  const identifier = kind === undefined ? image : hasVersion ? target.slice(0, at) : target;
  return { kind, identifier, version: found === 'latest' ? undefined : found };
}

function versionOfImage(image: string): string | undefined {
  return /^[^@]*\/[^/:@]+:([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})/.exec(image)?.[1];
}

function transportOf({ transport, target_port: port }: ImageServer): RecordPackage['transport'] {
  if (transport === 'stdio') return { type: transport };
  const path = transport === 'sse' ? '/sse' : '/mcp';
  return { type: transport, url: `http://localhost${port === undefined ? '' : `:${port}`}${path}` };
}

function argumentsOf({
  args = [],
  required_args: required = [],
}: ImageServer): Pick<RecordPackage, 'packageArguments'> {
  const all = [
    ...args.map((value) => ({ type: 'positional', value })),
    ...required.map((valueHint) => ({ type: 'positional', valueHint, isRequired: true })),
  ];
  return all.length === 0 ? {} : { packageArguments: all };
}

function inputOf({ name, description, required, secret, default: value, ...others }: EnvVar | HeaderDef) {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(required ? { isRequired: true } : {}),
    ...(secret ? { isSecret: true } : {}),
    ...(value === undefined ? {} : { default: value }),
    ...('choices' in others && others.choices !== undefined ? { choices: others.choices } : {}),
  };
}

function remoteOf({ transport, url, headers }: RemoteServer): NonNullable<ServerRecord['remotes']>[number] {
  return { type: transport, url, ...(headers === undefined ? {} : { headers: headers.map(inputOf) }) };
}

const IN_RECORD = new Set(['title', 'image', 'url', 'transport', 'headers', 'repository_url', 'target_port']);
const IN_PACKAGE = new Set(['args', 'required_args', 'env_vars', 'not_used']);

/** What the record cannot say. A description that was cut is whole here. */
function extensionOf(server: ImageServer | RemoteServer, isRemote: boolean): Readonly<Record<string, unknown>> {
  const kept = Object.entries(server).filter(
    ([key, value]) =>
      value !== undefined &&
      !IN_RECORD.has(key) &&
      (isRemote || !IN_PACKAGE.has(key)) &&
      (key !== 'description' || (typeof value === 'string' && value.length > MAX_DESCRIPTION)),
  );
  return { status: 'active', ...Object.fromEntries(kept) };
}
