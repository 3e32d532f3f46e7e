import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GatewayFault } from '@toolmgr/core';
import { atomicWrite, withLock } from '@toolmgr/plugins/kit/files';
import {
  DamagedSecrets,
  KeyringError,
  keyringEntry,
  SECRET_NAME,
  type SecretStore,
} from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';

/**
 * Secrets in the keyring of the operating system, one entry each. Their names are in the file `path`, because not every keyring
 * can list them; it holds no value.
 */
export function keyringStore(path: string): SecretStore {
  const change = <T>(act: (names: Set<string>) => Promise<T>): Promise<T> =>
    withLock(dirname(path), '.keyring-secrets', async () => {
      const names = await readNames(path);
      const before = [...names].join();
      const result = await act(names);
      if ([...names].join() !== before) await writeNames(path, names);
      return result;
    });
  return {
    capabilities: { can_read: true, can_write: true, can_delete: true, can_list: true, can_cleanup: true },
    read: (key) => (SECRET_NAME.test(key) ? use(() => entryOf(key).read()) : Promise.resolve(undefined)),
    write: (key, value, mode) =>
      change(async (names) => {
        if (mode !== 'any') {
          const exists = (await use(() => entryOf(key).read())) !== undefined;
          if (mode === 'create' && exists) return 'exists';
          if (mode === 'update' && !exists) return 'missing';
        }
        // the name first: a killed process leaves a name without a value, which a removal finds
        if (!names.has(key)) {
          names.add(key);
          await writeNames(path, names);
        }
        await use(() => entryOf(key).write(value));
        return 'written';
      }),
    remove: (key) =>
      change(async (names) => {
        const was = await use(() => entryOf(key).remove());
        return names.delete(key) || was;
      }),
    list: async () =>
      [...(await readNames(path))].sort().map((key) => ({ key, description: 'in the keyring of the system' })),
    async test() {
      const probe = keyringEntry(`probe ${randomUUID()}`);
      await use(async () => {
        await probe.write('probe');
        const isKept = (await probe.read()) === 'probe';
        await probe.remove();
        if (!isKept) throw new KeyringError('the keyring of the operating system does not return what was stored');
      });
    },
  };
}

function entryOf(key: string) {
  return keyringEntry(`secret ${key}`);
}

async function use<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof KeyringError) throw new GatewayFault('SECRETS_UNAVAILABLE', cause.message, { cause });
    throw cause;
  }
}

const namesFile = z.strictObject({ format: z.literal(1), names: z.array(z.string().regex(SECRET_NAME)) });

async function readNames(path: string): Promise<Set<string>> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new GatewayFault('SECRETS_UNAVAILABLE', `${path} cannot be read (${cause.code})`);
  });
  if (text === undefined) return new Set();
  try {
    return new Set(namesFile.parse(JSON.parse(text)).names);
  } catch {
    throw new DamagedSecrets(`${path} is damaged: remove it, the secrets stay in the keyring`);
  }
}

async function writeNames(path: string, names: ReadonlySet<string>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await atomicWrite(path, `${JSON.stringify({ format: 1, names: [...names] }, undefined, 2)}\n`);
}
