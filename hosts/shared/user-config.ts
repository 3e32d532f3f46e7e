import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { explainCause, explainIssues } from '@toolmgr/core';
import { atomicWrite, stateDir, withLock } from '@toolmgr/plugins/kit/files';
import { Document, isMap, parseDocument } from 'yaml';
import { z } from 'zod';
import { PROVIDERS } from './secrets/providers.ts';
import { UsageError } from './usage-error.ts';

const text = z.string().min(1);

/** Sign-in of a registry. The values are checked when the registry is used. */
const registryAuth = z.strictObject({
  issuer: text,
  client_id: text,
  audience: text.optional(),
  scopes: z.array(text).optional(),
  callback_port: z.int().min(1024).max(65_535).optional(),
});

/** A further registry: exactly one of the sources. */
const furtherRegistry = z.strictObject({
  name: text,
  url: text.optional(),
  api_url: text.optional(),
  local_path: text.optional(),
  /** The place of the built-in document among the others. */
  built_in: z.literal(true).optional(),
  allow_private_ip: z.boolean().optional(),
  auth: registryAuth.optional(),
});

/** A further registry in `config.yaml`. */
export type FurtherRegistry = z.output<typeof furtherRegistry>;

/**
 * What a user sets for all commands: `config.yaml`. Unknown keys are refused.
 *
 * Source: reference workload-api §6.2; `registries`, `built_in_registry`, `registry_locked` and `sigstore_trusted_root` are ours.
 */
const userConfig = z.strictObject({
  /** Registry document at a URL, API of a registry server, or registry document on disk: at most one of them. */
  registry_url: text.optional(),
  registry_api_url: text.optional(),
  local_registry_path: text.optional(),
  /** Allows plain http and private addresses for the registry and for the remote servers in it. */
  allow_private_registry_ip: z.boolean().optional(),
  /** Sign-in of the registry that one of the three keys gives. */
  registry_auth: z.strictObject({ type: z.literal('oauth').default('oauth'), oauth: registryAuth }).optional(),
  /** Further registries, the first one with the highest priority. */
  registries: z.array(furtherRegistry).max(64).optional(),
  /** Whether the built-in document is used too. Default: unless one of the three keys is set. */
  built_in_registry: z.boolean().optional(),
  /** Commands and the API do not change the registries. */
  registry_locked: z.boolean().optional(),
  /** File with the trust root that signatures of images are checked against, instead of the one that is downloaded. */
  sigstore_trusted_root: text.optional(),
  /** Clients that are registered for all groups. They are in the list of a group when `toolmgr client register` made them. */
  clients: z.strictObject({ registered_clients: z.array(text).optional() }).optional(),
  /** Signatures of skills. */
  skills: z
    .strictObject({
      /** PEM files of public keys that may sign. */
      public_keys: z.array(text).max(100).optional(),
      /** Certificate authority and transparency log for `skill push`, instead of those of the public-good instance. */
      fulcio_url: z.url().optional(),
      rekor_url: z.url().optional(),
    })
    .optional(),
  /** Where `--secret` looks. */
  secrets: z
    .strictObject({
      provider_type: z.enum(PROVIDERS).optional(),
      setup_completed: z.boolean().optional(),
    })
    .optional(),
});

/** Settings of the user. */
export type UserConfig = z.output<typeof userConfig>;

/** Path of the settings: `config.yaml` in `toolmgr` of the XDG configuration folder. */
export function userConfigPath(env: Readonly<Record<string, string | undefined>> = process.env): string {
  // XDG base directory specification: a relative path is ignored
  const folder = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(env.HOME ?? homedir(), '.config');
  return join(folder, 'toolmgr', 'config.yaml');
}

/** Reads the settings; none when there is no file. @throws UsageError naming the file and each fault in it */
export async function readUserConfig(path = userConfigPath()): Promise<UserConfig> {
  return checked(path, await textOf(path));
}

/**
 * Changes settings; `undefined` removes one. Comments of the file stay. Other processes that change it wait.
 * @throws UsageError when the file is not valid or cannot be written
 */
export async function changeUserConfig(change: Partial<UserConfig>, path = userConfigPath()): Promise<void> {
  await editUserConfig((document) => {
    for (const [key, value] of Object.entries(change)) {
      if (value === undefined) document.delete(key);
      else document.set(key, document.createNode(value));
    }
  }, path);
}

/**
 * Changes the document of the settings, as {@link changeUserConfig}. `edit` gets the settings as they are now; when it returns
 * `false`, nothing is written.
 * @throws UsageError when the file is not valid or cannot be written
 */
export async function editUserConfig(
  edit: (document: Document, config: UserConfig) => boolean | void,
  path = userConfigPath(),
): Promise<void> {
  await withLock(stateDir(process.env), LOCK, async () => {
    const before = await textOf(path);
    const config = checked(path, before);
    const read = parseDocument(before);
    const document: Document = isMap(read.contents) ? read : new Document({});
    if (edit(document, config) === false) return;
    const after = String(document);
    checked(path, after);
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await atomicWrite(path, after);
    } catch (cause) {
      throw new UsageError(`${path} cannot be written: ${explainCause(cause)}`);
    }
  });
}

const LOCK = '.user-config'; // no workload has this name

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new UsageError(`${path} cannot be read: ${explainCause(cause)}`);
  }
}

function checked(path: string, content: string): UserConfig {
  const document = parseDocument(content);
  if (document.errors.length > 0) throw new UsageError(`${path} is not YAML: ${document.errors[0]?.message ?? ''}`);
  const read = userConfig.safeParse(document.toJS({ maxAliasCount: 10 }) ?? {});
  if (!read.success) throw new UsageError(`${path}: ${explainIssues('', userConfig, read.error).join('; ')}`);
  const sources = SOURCES.filter((key) => read.data[key] !== undefined);
  if (sources.length > 1) throw new UsageError(`${path}: ${sources.join(' and ')} exclude each other`);
  if (read.data.registry_auth !== undefined && (sources.length === 0 || read.data.local_registry_path !== undefined)) {
    throw new UsageError(`${path}: registry_auth needs registry_url or registry_api_url`);
  }
  return read.data;
}

const SOURCES = ['registry_url', 'registry_api_url', 'local_registry_path'] as const;
