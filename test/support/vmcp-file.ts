import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** Backends of a file by name: the URL of a server over streamable HTTP, or everything but the name. */
export type FileBackends = Readonly<Record<string, string | object>>;

/** A vmcp file: static backends, callers without an identity, prefixed names. `more` adds and replaces sections. */
export function vmcpConfig(backends: FileBackends, more: object = {}) {
  return {
    name: 'dev-vmcp',
    groupRef: 'dev',
    incomingAuth: { type: 'anonymous' },
    outgoingAuth: { source: 'inline' },
    aggregation: { conflictResolution: 'prefix' },
    backends: Object.entries(backends).map(([name, backend]) =>
      typeof backend === 'string' ? { name, url: backend, transport: 'streamable-http' } : { name, ...backend },
    ),
    ...more,
  };
}

/** Writes it as `vmcp.yaml` and returns the path. */
export async function writeVmcpFile(folder: string, backends: FileBackends, more: object = {}): Promise<string> {
  const file = join(folder, 'vmcp.yaml');
  await writeFile(file, stringify(vmcpConfig(backends, more)));
  return file;
}

/** The entry of `plugins` by which callers are known by the key `key-of-NAME`. */
export function apiKeys(...callers: readonly string[]): object {
  const keys = callers.map((name) => [name, createHash('sha256').update(`key-of-${name}`).digest('hex')]);
  return { use: API_KEYS, with: { keys: Object.fromEntries(keys) } };
}

const API_KEYS = join(import.meta.dirname, '../../examples/custom-auth/api-keys.ts');
