import { isObject } from '@toolmgr/core';
import { z } from 'zod';
import { imageServer, issueText, remoteServer } from './entry-schemas.ts';
import { isEntryName } from './entry-text.ts';
import { argumentsOf, type Input, inputSchema, variableFrom } from './record-inputs.ts';
import type { RegistryEntry } from './registry-data.ts';

/** An entry of a `server.json` record; `isOlder` when the registry has a newer version of it. */
export type RecordRead =
  | { readonly entry: RegistryEntry; readonly isOlder: boolean }
  | {
      readonly name: string;
      readonly reason: string;
      /** It is not run, but nothing in it is unsafe. */
      readonly isOnlyUnknown?: boolean;
    };

const transport = z.object({
  type: z.string(),
  url: z.string().optional(),
  headers: z.array(inputSchema).max(100).optional(),
  variables: z.record(z.string(), inputSchema).optional(),
});

const packageSchema = z.object({
  registryType: z.string(),
  registryBaseUrl: z.string().optional(),
  identifier: z.string(),
  version: z.string().optional(),
  transport: transport.default({ type: 'stdio' }),
  packageArguments: z.array(inputSchema).max(1_000).default([]),
  runtimeArguments: z.array(inputSchema).max(1_000).default([]),
  environmentVariables: z.array(inputSchema).max(1_000).default([]),
});

const recordSchema = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().default(''),
  status: z.string().optional(),
  repository: z.object({ url: z.string().optional() }).optional(),
  packages: z.array(packageSchema).max(100).default([]),
  remotes: z.array(transport).max(100).default([]),
  _meta: z.record(z.string(), z.unknown()).default({}),
});

type ServerRecord = z.output<typeof recordSchema>;
type Package = z.output<typeof packageSchema>;
type Transport = z.output<typeof transport>;

/**
 * Reads one record of the official registry: a `server.json`, or `{ server, _meta }` as its API lists it.
 *
 * A record with a remote is a remote server; else its first image, npm, PyPI or Go package is used.
 * Source: server.json schema 2025-12-11; reference workload-api §6.1 "Conversion".
 */
export function readServerRecord(value: unknown): RecordRead {
  const server = isObject(value) && isObject(value.server) ? value.server : value;
  const name = isObject(server) && typeof server.name === 'string' ? server.name : 'an entry without a name';
  const read = recordSchema.safeParse(server);
  if (!read.success) return { name, reason: issueText(read.error) };
  if (!isEntryName(name)) return { name, reason: 'its name is not valid' };
  const listing = isObject(value) && isObject(value._meta) ? officialMeta(value._meta) : {};
  const status = textOf(listing.status) ?? read.data.status;
  if (status?.toLowerCase() === 'deleted') return { name, reason: 'it was deleted from the registry' };
  const made = read.data.remotes.length > 0 ? remoteFrom(read.data) : packageFrom(read.data);
  if ('reason' in made) return { name, ...made };
  const fields = { ...made.fields, ...(status === undefined ? {} : { status }) };
  const isOlder = listing.isLatest === false;
  if (made.isRemote) {
    const checked = remoteServer.safeParse(fields);
    if (!checked.success) return { name, reason: issueText(checked.error) };
    return { entry: { name, remote: checked.data }, isOlder };
  }
  const checked = imageServer.safeParse(fields);
  if (!checked.success) return { name, reason: issueText(checked.error) };
  return { entry: { name, image: checked.data }, isOlder };
}

type Made =
  | { readonly isRemote: boolean; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly reason: string; readonly isOnlyUnknown?: boolean };

function remoteFrom(record: ServerRecord): Made {
  const [remote] = record.remotes;
  const url = remote?.url;
  if (remote === undefined || url === undefined) return { reason: 'remotes: expected a url' };
  const filled = fillTemplate(url, remote.variables ?? {});
  if (filled === undefined) {
    return { reason: 'its URL has variables without a default: run the URL itself', isOnlyUnknown: true };
  }
  return {
    isRemote: true,
    fields: {
      ...described(record, url),
      url: filled,
      transport: transportOf(remote),
      headers: (remote.headers ?? []).map((header) => variableFrom(header)),
    },
  };
}

function packageFrom(record: ServerRecord): Made {
  const known = KINDS.flatMap((kind) => record.packages.filter(({ registryType }) => registryType === kind));
  const [found] = known;
  if (found === undefined) {
    const types = [...new Set(record.packages.map(({ registryType }) => registryType))];
    return {
      reason:
        types.length === 0
          ? 'it has no package and no remote'
          : `packages of the type ${types.join(', ')} cannot be run`,
      isOnlyUnknown: true,
    };
  }
  const base = found.registryBaseUrl?.replace(/\/+$/, '');
  if (base !== undefined && !BASES[found.registryType]?.includes(base)) {
    return { reason: `its package is in the registry ${base}, which toolmgr would not ask`, isOnlyUnknown: true };
  }
  const image = targetOf(found);
  const { args, missing } = argumentsOf(found.packageArguments);
  const port = /:(\d+)(?:\/|$)/.exec(found.transport.url?.replace(/^https?:\/\//, '') ?? '')?.[1];
  const isHttp = found.transport.type !== 'stdio';
  return {
    isRemote: false,
    fields: {
      ...described(record, found.identifier),
      image,
      transport: transportOf(found.transport),
      ...(isHttp && port !== undefined ? { target_port: Number(port) } : {}),
      ...(found.packageArguments.length === 0 ? {} : { args }),
      ...(missing.length === 0 ? {} : { required_args: missing }),
      env_vars: found.environmentVariables.map((each) => variableFrom(each)),
      ...(found.runtimeArguments.length === 0
        ? {}
        : { not_used: [`arguments of the runtime: ${named(found.runtimeArguments)}`] }),
    },
  };
}

/** Order of preference. */
const KINDS = ['oci', 'npm', 'pypi', 'go'] as const;

/** The registries that the engine and the package runners use. */
const BASES: Readonly<Record<string, readonly string[]>> = {
  oci: [
    'https://docker.io',
    'https://ghcr.io',
    'https://quay.io',
    'https://mcr.microsoft.com',
    'https://registry-1.docker.io',
  ],
  npm: ['https://registry.npmjs.org'],
  pypi: ['https://pypi.org', 'https://pypi.org/simple'],
  go: ['https://proxy.golang.org'],
};

function targetOf({ registryType, registryBaseUrl, identifier, version }: Package): string {
  const at = version === undefined || version === '' ? '' : `@${version}`;
  if (registryType === 'npm') return `npx://${identifier}${at}`;
  if (registryType === 'pypi') return `uvx://${identifier}${at}`;
  if (registryType === 'go') return `go://${identifier}${at}`;
  const host = registryBaseUrl === undefined ? '' : new URL(registryBaseUrl).host;
  // records before 2025-10 have the host in registryBaseUrl and the tag in version
  const path =
    host === '' || host.endsWith('docker.io') || identifier.startsWith(`${host}/`)
      ? identifier
      : `${host}/${identifier}`;
  const hasTag = /[:@]/.test(path.slice(path.lastIndexOf('/') + 1));
  return hasTag || at === '' ? path : `${path}:${version}`;
}

/** What a publisher says about a package or URL beyond `server.json`, under the key of any vendor. */
function described(record: ServerRecord, key: string): Readonly<Record<string, unknown>> {
  return {
    ...(record.title === undefined ? {} : { title: record.title }),
    description: record.description,
    ...(record.repository?.url === undefined ? {} : { repository_url: record.repository.url }),
    ...extensionOf(record._meta, key),
  };
}

const PUBLISHER = 'io.modelcontextprotocol.registry/publisher-provided';
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

function extensionOf(meta: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const vendors = meta[PUBLISHER];
  if (!isObject(vendors)) return {};
  const found = Object.values(vendors).find((vendor) => isObject(vendor) && isObject(vendor[key]));
  const extension = isObject(found) ? found[key] : undefined;
  if (!isObject(extension)) return {};
  return Object.fromEntries(Object.entries(extension).filter(([name]) => EXTENSION.has(name)));
}

const EXTENSION = new Set([
  ...['status', 'tier', 'tools', 'tags', 'overview', 'metadata', 'permissions', 'args', 'provenance', 'docker_tags'],
  ...['proxy_port', 'stateless', 'oauth_config', 'custom_metadata', 'description', 'env_vars'],
]);

function officialMeta(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const official = meta[OFFICIAL];
  return isObject(official) ? official : meta;
}

function transportOf({ type }: Transport): string {
  return type === 'http' || type === 'streamable' ? 'streamable-http' : type;
}

/** A URL with the fixed and default values of its variables; `undefined` when one has none. */
function fillTemplate(url: string, variables: Readonly<Record<string, Input>>): string | undefined {
  let isComplete = true;
  const filled = url.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = variable?.value ?? variable?.default;
    if (value === undefined) isComplete = false;
    return encodeURIComponent(value ?? '');
  });
  return isComplete ? filled : undefined;
}

function named(inputs: readonly Input[]): string {
  return inputs.map(({ name, valueHint, value }) => name ?? valueHint ?? value ?? 'an argument').join(', ');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
