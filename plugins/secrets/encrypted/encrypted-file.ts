import { chmod, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GatewayFault } from '@toolmgr/core';
import { atomicWrite, withLock } from '@toolmgr/plugins/kit/files';
import { DamagedSecrets } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import type { FileHeader } from './file-header.ts';
import { type FileKey, readSealed, type SealedText, seal, unseal } from './sealed-text.ts';

/** Who a secret is for: `user` is shown by `secret list`; `system` holds what toolmgr keeps for workloads. */
export type SecretScope = 'user' | 'system';

/** All secrets by scope and name. */
export type SecretTable = Readonly<Record<SecretScope, Map<string, string>>>;

/** One encrypted file. */
export interface EncryptedFile {
  readonly path: string;
  /** @throws GatewayFault SECRETS_UNAVAILABLE */
  read(): Promise<SecretTable>;
  /**
   * Changes the secrets under a lock across processes, and replaces the file atomically.
   * @throws GatewayFault SECRETS_UNAVAILABLE; the file is unchanged
   */
  change(edit: (secrets: SecretTable) => void): Promise<void>;
  /** Its key, for another process of this user. @throws GatewayFault SECRETS_UNAVAILABLE */
  key(): Promise<FileKey>;
  /** Encrypts the file with another key. */
  replaceKey(next: FileKey): Promise<void>;
}

/** Parameters of {@link encryptedFile}. */
export interface EncryptedFileOptions {
  readonly path: string;
  /** The key of the file; called for each header, so it should keep what it derived. */
  readonly unlock: (header: FileHeader, line: string) => Promise<Buffer>;
  /** Gets a line about something that was repaired. */
  readonly warn?: (line: string) => void;
}

/** Opens a file; nothing is read before the first call. */
export function encryptedFile({ path, unlock, warn }: EncryptedFileOptions): EncryptedFile {
  const open = async (): Promise<SealedText> => readSealed(path, await readPrivate(path, warn));
  const change = async (edit: (secrets: SecretTable) => void, next?: FileKey): Promise<void> => {
    const before = await open();
    // outside the lock, because it takes long
    await unlock(before.header, before.line);
    await withLock(dirname(path), basename(path), async () => {
      const sealed = await open();
      const key = await unlock(sealed.header, sealed.line);
      const secrets = tableFrom(path, unseal(path, sealed, key));
      edit(secrets);
      await replace(path, seal(next ?? { header: sealed.line, key }, textOf(path, secrets)));
    });
  };
  return {
    path,
    async read() {
      const sealed = await open();
      return tableFrom(path, unseal(path, sealed, await unlock(sealed.header, sealed.line)));
    },
    change: (edit) => change(edit),
    async key() {
      const sealed = await open();
      const key = await unlock(sealed.header, sealed.line);
      unseal(path, sealed, key);
      return { header: sealed.line, key };
    },
    replaceKey: (next) => change(() => {}, next),
  };
}

/** Writes a new file without secrets. `false` when there is one. */
export async function createEncryptedFile(path: string, key: FileKey): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return withLock(dirname(path), basename(path), async () => {
    if ((await stat(path).catch(() => undefined)) !== undefined) return false;
    await replace(path, seal(key, textOf(path, { user: new Map(), system: new Map() })));
    return true;
  });
}

/** The header of a file; `undefined` when there is no file. @throws GatewayFault SECRETS_UNAVAILABLE when it is damaged */
export async function headerOf(path: string): Promise<FileHeader | undefined> {
  if ((await stat(path).catch(() => undefined)) === undefined) return undefined;
  return readSealed(path, await readPrivate(path)).header;
}

async function replace(path: string, text: string): Promise<void> {
  await removeLeftovers(path);
  await atomicWrite(path, text);
}

/** Reads the file, and takes the rights of others away. */
async function readPrivate(path: string, warn?: (line: string) => void): Promise<string> {
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    throw new GatewayFault(
      'SECRETS_UNAVAILABLE',
      cause.code === 'ENOENT'
        ? `there are no encrypted secrets at ${path}: make the file with toolmgr secret setup`
        : `${path} cannot be read (${cause.code})`,
    );
  });
  try {
    const { mode, size, uid } = await file.stat();
    if (size > MAX_FILE_BYTES) throw new DamagedSecrets(`${path} is too large: it is damaged`);
    const own = process.getuid?.();
    if (own !== undefined && uid !== own && own !== 0)
      throw new GatewayFault('SECRETS_UNAVAILABLE', `${path} belongs to another user`);
    if (own !== undefined && (mode & 0o077) !== 0) {
      await chmod(path, 0o600);
      warn?.(
        `${path} could be read or changed by other users (mode ${(mode & 0o777).toString(8)}); it has mode 600 now`,
      );
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Removes temporary files of killed processes. They are encrypted too. */
async function removeLeftovers(path: string): Promise<void> {
  const prefix = `.${basename(path)}-`;
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix));
  // under the lock, so no other process writes one now
  for (const name of names) await rm(join(dirname(path), name), { force: true });
}

const entries = z.array(z.tuple([z.string(), z.string()]));
const content = z.strictObject({ user: entries, system: entries });

function tableFrom(path: string, plain: string): SecretTable {
  const read = content.safeParse(JSON.parse(plain));
  if (!read.success) throw new DamagedSecrets(`${path} has content of another version`);
  return { user: new Map(read.data.user), system: new Map(read.data.system) };
}

function textOf(path: string, { user, system }: SecretTable): string {
  const text = JSON.stringify({ user: [...user], system: [...system] });
  if (Buffer.byteLength(text) <= MAX_CONTENT_BYTES) return text;
  throw new GatewayFault('SECRETS_UNAVAILABLE', `${path} is full: all secrets together have at most 4 MiB`);
}

const MAX_CONTENT_BYTES = 4 * 1024 * 1024;
const MAX_FILE_BYTES = 2 * MAX_CONTENT_BYTES; // base64 takes a third more
