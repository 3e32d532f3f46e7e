import { isAbsolute } from 'node:path';
import { remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { z } from 'zod';
import type { ConfiguredRegistry, Registries, RegistryAuth } from './registries.ts';
import type { SourceProblemKind } from './source-problem.ts';
import type { RegistrySource } from './sources.ts';

const text = (max: number) => z.string().min(1).max(max);

/** Where people sign in. Source: reference workload-api §2.2; `callback_port` is ours. */
export const authSettings = z.strictObject({
  issuer: text(2_000).describe('issuer of the tokens; https, or http on this machine'),
  client_id: text(1_000).describe('client id that is registered there'),
  audience: text(1_000).optional().describe('audience of the tokens; a URL is also the resource indicator'),
  scopes: z.array(text(200)).max(100).optional().describe('scopes; default `openid offline_access`'),
  callback_port: z.int().min(1024).max(65_535).optional().describe('port of the callback on this machine; default any'),
});

/** A source as bodies and `config.yaml` have it: at most one of `url`, `api_url` and `local_path`. */
export const sourceSettings = z.strictObject({
  url: text(2_000).optional().describe('https URL of a registry document'),
  api_url: text(2_000).optional().describe('https URL of a registry server'),
  local_path: text(4_096).optional().describe('absolute path of a registry document (`.json`)'),
  allow_private_ip: z
    .boolean()
    .optional()
    .describe('allows http and private addresses, also for the remote servers in the registry'),
  auth: authSettings.optional().describe('sign-in of the registry; left out: none'),
});

export type SourceSettings = z.output<typeof sourceSettings>;

/** A member of the settings that is wrong. */
export interface SourceFault {
  readonly field: string;
  readonly fault: string;
}

/** Reads settings without loading anything. Without a source it is the built-in document. */
export function readSourceSettings(name: string, given: SourceSettings): ConfiguredRegistry | SourceFault {
  const { url, api_url: api, local_path: path, allow_private_ip: allowPrivateAddresses = false, auth } = given;
  const fields = (['url', 'api_url', 'local_path'] as const).filter((field) => given[field] !== undefined);
  const [field, other] = fields;
  if (other !== undefined) return { field: other, fault: `expected one of ${fields.join(' and ')}, not both` };
  if (auth !== undefined && url === undefined && api === undefined) {
    return { field: 'auth', fault: 'is for url and api_url: no one signs in to a file or the built-in registry' };
  }
  const web = url ?? api;
  const fault = web === undefined ? pathFault(path) : urlFault(web, allowPrivateAddresses);
  if (fault !== undefined && field !== undefined) return { field, fault };
  const authFault = auth === undefined ? undefined : issuerFault(auth.issuer);
  if (authFault !== undefined) return { field: 'auth.issuer', fault: authFault };
  return {
    name,
    source: sourceOf(url, api, path),
    allowPrivateAddresses,
    ...(auth === undefined ? {} : { auth: authFrom(auth) }),
  };
}

/** The settings that {@link readSourceSettings} reads again. */
export function settingsOf({ source, allowPrivateAddresses, auth }: ConfiguredRegistry): SourceSettings {
  return {
    ...(source.type === 'url' ? { url: source.url } : {}),
    ...(source.type === 'api' ? { api_url: source.url } : {}),
    ...(source.type === 'file' ? { local_path: source.path } : {}),
    ...(allowPrivateAddresses ? { allow_private_ip: true } : {}),
    ...(auth === undefined ? {} : { auth: authSettingsOf(auth) }),
  };
}

/** The settings of a sign-in, as answers have them. */
export function authSettingsOf({ issuer, clientId, audience, scopes, callbackPort }: RegistryAuth) {
  return {
    issuer,
    client_id: clientId,
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...(callbackPort === undefined ? {} : { callback_port: callbackPort }),
  };
}

/** How a new source was tried. */
export type SourceTried =
  | { readonly kind: 'usable'; readonly servers: number; readonly leftOut: number; readonly notes: readonly string[] }
  /** People sign in first: what it has is not known. */
  | { readonly kind: 'needs-sign-in' }
  | { readonly kind: SourceProblemKind | 'empty'; readonly problem: string };

/** Loads a source before it is saved. */
export async function trySource(
  registries: Pick<Registries, 'loadOne'>,
  registry: ConfiguredRegistry,
  signal?: AbortSignal,
): Promise<SourceTried> {
  const loaded = await registries.loadOne(registry, { refresh: true, ...(signal === undefined ? {} : { signal }) });
  if ('problem' in loaded) {
    return loaded.kind === 'auth' && registry.auth !== undefined ? { kind: 'needs-sign-in' } : loaded;
  }
  const { entries, records, skills, leftOut } = loaded.registry;
  if (entries.length + records.length + skills.length === 0) {
    const why = leftOut[0] === undefined ? '' : ` (${leftOut[0].name}: ${leftOut[0].reason})`;
    return { kind: 'empty', problem: `the registry has no server that can be used${why}` };
  }
  return { kind: 'usable', servers: entries.length, leftOut: leftOut.length, notes: loaded.notes };
}

/** Names of further registries. */
export const REGISTRY_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Name of the registry that the contract's settings give, and of the merged view. */
export const DEFAULT_REGISTRY = 'default';

/** Name of the built-in document. */
export const BUILT_IN = 'built-in';

/** Why a name cannot be that of a further registry. */
export function registryNameFault(name: string): string | undefined {
  if (!REGISTRY_NAME.test(name)) return 'expected lower case letters, digits and hyphens, at most 63';
  return RESERVED.has(name) ? `${name} is the name of another registry or path` : undefined;
}

const RESERVED = new Set([DEFAULT_REGISTRY, BUILT_IN, 'auth']);

function sourceOf(url: string | undefined, api: string | undefined, path: string | undefined): RegistrySource {
  if (api !== undefined) return { type: 'api', url: api.replace(/\/+$/, '') };
  if (url !== undefined) return { type: 'url', url };
  return path === undefined ? { type: 'default' } : { type: 'file', path };
}

function authFrom({
  issuer,
  client_id: clientId,
  audience,
  scopes,
  callback_port: callbackPort,
}: z.output<typeof authSettings>): RegistryAuth {
  return {
    issuer,
    clientId,
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(callbackPort === undefined ? {} : { callbackPort }),
  };
}

/** Private addresses are refused when connecting: then it is the network that refuses, not the form. */
function urlFault(url: string, allowHttp: boolean): string | undefined {
  const problem = remoteUrlProblem(url, { allowHttp, allowPrivateAddresses: true });
  if (problem === undefined) return new URL(url).hash === '' ? undefined : 'expected a URL without a fragment';
  return allowHttp || !/^http:/i.test(url) ? problem : `${problem}; allow_private_ip allows it`;
}

function pathFault(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  if (path.includes('\0')) return 'must not contain NUL';
  if (!isAbsolute(path)) return 'expected an absolute path';
  return path.endsWith('.json') ? undefined : 'expected the path of a .json file';
}

function issuerFault(issuer: string): string | undefined {
  const problem = remoteUrlProblem(issuer, { allowHttp: 'loopback', allowPrivateAddresses: true });
  if (problem !== undefined) return problem;
  const { search, hash } = new URL(issuer);
  return search === '' && hash === '' ? undefined : 'expected a URL without query and fragment';
}
