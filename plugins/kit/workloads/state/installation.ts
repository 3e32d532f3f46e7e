import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { GatewayFault } from '@toolmgr/core';
import { writeSynced } from '../../files/atomic-write.ts';
import { stateDir } from '../../files/state-dir.ts';

/** One state folder, among those that share a container engine. */
export interface Installation {
  /** Random, kept in the state folder; `TOOLMGR_INSTALLATION` replaces it. */
  readonly id: string;
  /** For people: user, machine and state folder. */
  readonly place: string;
}

const FILE = 'installation';
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * The installation of this process. The first call writes its id.
 * @throws GatewayFault WORKLOAD_FAILED when the state folder cannot be written, or the id is not 1 to 64 letters, digits, `-`, `_`, `.`
 */
export async function thisInstallation(env: NodeJS.ProcessEnv): Promise<Installation> {
  const folder = stateDir(env);
  const place = `${userName()}@${hostname()}:${folder}`;
  const given = env.TOOLMGR_INSTALLATION;
  const id = given || (await idIn(folder));
  if (ID.test(id)) return { id, place };
  const from = given ? 'TOOLMGR_INSTALLATION' : join(folder, FILE);
  throw new GatewayFault('WORKLOAD_FAILED', `${from} is not an id: expected 1 to 64 letters, digits, "-", "_" or "."`);
}

async function idIn(folder: string): Promise<string> {
  const path = join(folder, FILE);
  const known = await idOf(path);
  if (known !== undefined) return known;
  const temporary = join(folder, `.${FILE}-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeSynced(temporary, `${randomUUID()}\n`);
    // fails when another process was faster, whose id is then read
    await link(temporary, path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new GatewayFault(
      'WORKLOAD_FAILED',
      `${path} cannot be written (${code}): it keeps the id by which containers of this installation are known; ` +
        'name a writable folder in TOOLMGR_STATE_DIR, or an id in TOOLMGR_INSTALLATION',
      { cause },
    );
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
  return (await idOf(path)) ?? '';
}

async function idOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw cause;
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'user'); // a user id without an entry in the list of users
  }
}
