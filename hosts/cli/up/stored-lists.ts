import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, explainCause, type GatewayOptions, type Log } from '@toolmgr/core';
import { atomicWrite, stateDir } from '@toolmgr/plugins/kit/files';

type ListStore = NonNullable<GatewayOptions['listStore']>;

/** A list store on disk. */
export interface StoredLists extends ListStore {
  /** Resolves when everything is written. Never rejects. */
  written(): Promise<void>;
}

/** What the store needs. */
export interface StoredListsOptions {
  /** Header values with which a server is asked; `undefined` for none. */
  headersOf(backend: string): Readonly<Record<string, string>> | undefined;
  readonly log: Log;
  /** Default: `lists` in the state folder. */
  readonly folder?: string;
}

/** Servers whose lists are kept; the ones that were written longest ago are removed. */
const MAX_FILES = 200;
/** Longer lists are not kept. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Keeps the lists of servers in files of the state folder, mode 0600. The name of a file is a keyed hash of how the server is
 * reached: its program with arguments, which name the version of a package, or its URL, its environment and its headers. So another
 * version, account or key has no lists yet. A file that cannot be used is ignored with a log line.
 */
export function createStoredLists({
  headersOf,
  log,
  folder = join(stateDir(process.env), 'lists'),
}: StoredListsOptions): StoredLists {
  let salt: Buffer | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** Texts that are not written yet, by file: of several for one server only the last is needed. */
  const waiting = new Map<string, string>();
  const fileOf = (backend: Backend): string => {
    salt ??= saltIn(folder);
    const { transport, url, command, era } = backend;
    const reached = JSON.stringify([transport, url, command, era, headersOf(backend.name)]);
    return join(folder, `${createHmac('sha256', salt).update(reached).digest('hex')}.json`);
  };
  const unused = (what: string, backend: Backend, cause: unknown): void =>
    log.warn(what, { backend: backend.name, folder, cause: explainCause(cause) });
  const write = async (file: string, backend: Backend): Promise<void> => {
    const text = waiting.get(file) ?? '';
    waiting.delete(file);
    try {
      await atomicWrite(file, text);
      await removeOldest(folder);
    } catch (cause) {
      unused('lists are not kept for the next run', backend, cause);
    }
  };
  return {
    read(backend) {
      try {
        const file = fileOf(backend);
        const text = textOf(file);
        return text === undefined ? undefined : JSON.parse(text);
      } catch (cause) {
        unused('the lists of an earlier run are not used', backend, cause);
        return undefined;
      }
    },
    write(backend, lists) {
      try {
        const file = fileOf(backend);
        const text = JSON.stringify(lists);
        if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`they have more than ${MAX_BYTES} bytes`);
        if (!waiting.has(file)) writing = writing.then(() => write(file, backend));
        waiting.set(file, text);
      } catch (cause) {
        unused('lists are not kept for the next run', backend, cause);
      }
    },
    written: () => writing,
  };
}

/** `undefined` when there is no file. @throws Error for one that is not an own file of at most {@link MAX_BYTES} */
function textOf(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > MAX_BYTES) throw new Error(`${file} is no file of ${MAX_BYTES} bytes at most`);
  if (found.uid !== (process.getuid?.() ?? found.uid)) throw new Error(`${file} belongs to another user`);
  return readFileSync(file, 'utf8');
}

/**
 * The key of the hashes, made once: without it a name tells nothing about the values that it was made of. One that is not whole
 * after a crash is replaced.
 */
function saltIn(folder: string): Buffer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, SALT);
  const known = saltOf(file);
  if (known !== undefined) return known;
  const temporary = join(folder, `.${SALT}-${randomUUID()}`);
  writeFileSync(temporary, randomBytes(SALT_BYTES).toString('hex'), { flag: 'wx', mode: 0o600 });
  renameSync(temporary, file);
  const made = saltOf(file); // of two processes, that of the last one
  if (made === undefined) throw new Error(`${file} is damaged; remove it`);
  return made;
}

function saltOf(file: string): Buffer | undefined {
  const salt = Buffer.from(textOf(file) ?? '', 'hex');
  return salt.length === SALT_BYTES ? salt : undefined;
}

const SALT_BYTES = 32;
const SALT = 'salt';

/** Temporary files of a killed process count too, and leave as the others do. */
async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== SALT);
  if (names.length <= MAX_FILES) return;
  const aged = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const found = await stat(path).catch(() => undefined); // another process may have removed it
      return { path, atMs: found?.mtimeMs ?? 0 };
    }),
  );
  const oldest = aged.toSorted((one, other) => one.atMs - other.atMs).slice(0, names.length - MAX_FILES);
  await Promise.all(oldest.map(({ path }) => rm(path, { force: true })));
}
