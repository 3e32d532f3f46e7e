import { lstat, mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { isObject } from '@toolmgr/core';
import { atomicWrite, isRunning, type ProcessMark, stateDir, whenAbsent } from '@toolmgr/plugins/kit/files';
import { UsageError } from '../usage-error.ts';
import { accepts, isPipe } from './socket-place.ts';

/** A gateway that runs, as its record on disk describes it. It holds no secrets. */
export interface GatewayRecord {
  /** Name of the record, unique on this machine. */
  readonly id: string;
  /** The process, distinct from a later one with the same pid. */
  readonly process: ProcessMark;
  /** Command that started it. */
  readonly kind: GatewayKind;
  /** Name of the gateway, from its configuration. */
  readonly name: string;
  /** URL of the MCP endpoint; absent for a gateway that serves its own stdin. */
  readonly url?: string;
  /** Absolute path of the configuration file. */
  readonly file?: string;
  readonly version: string;
  /** ISO date and time. */
  readonly startedAt: string;
  /** Unix socket or named pipe of the control commands. */
  readonly socket: string;
}

/** Commands that run a gateway. */
export type GatewayKind = 'up' | 'up --stdio' | 'start' | 'vmcp serve' | 'vmcp serve --stdio';

/** Records that are read; there are never so many, unless something else writes into the folder. */
const MAX_RECORDS = 256;
const MAX_RECORD_BYTES = 16 * 1024;

/** Folder with the records and sockets of this user's gateways. */
export function gatewaysDir(state: string = stateDir(process.env)): string {
  return join(state, 'gateways');
}

/**
 * Makes the folder, readable by its user only.
 * @throws UsageError when it is a link, or belongs to another user
 */
export async function makeGatewaysDir(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await requireOwn(folder);
}

/** Who writes into the folder decides which sockets the commands use and which they remove. */
async function requireOwn(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // the profile of a user is closed to others
  const found = await lstat(folder);
  if (!found.isDirectory()) throw new UsageError(`${folder} is not a folder`);
  if (found.uid !== process.getuid?.()) throw new UsageError(`${folder} belongs to another user`);
  if ((found.mode & 0o077) !== 0) throw new UsageError(`${folder} can be opened by others; run: chmod 700 ${folder}`);
}

/** Writes a record, mode 0600. */
export function writeRecord(folder: string, record: GatewayRecord): Promise<void> {
  return atomicWrite(recordPath(folder, record.id), `${JSON.stringify(record, undefined, 2)}\n`);
}

/** Path of a record. */
export function recordPath(folder: string, id: string): string {
  return join(folder, `${id}.json`);
}

/** The gateways of this user that run, oldest first. Removes the records of those that were killed. */
export async function readRunning(folder: string = gatewaysDir()): Promise<readonly GatewayRecord[]> {
  const { running, stale } = await readRecords(folder);
  await Promise.all(stale.map((record) => removeRecord(folder, record)));
  return running;
}

/**
 * All records, without changing anything.
 * @throws UsageError when another user could have written them
 */
export async function readRecords(
  folder: string = gatewaysDir(),
): Promise<{ readonly running: readonly GatewayRecord[]; readonly stale: readonly GatewayRecord[] }> {
  const names = await readdir(folder).catch(whenAbsent(undefined));
  if (names === undefined) return { running: [], stale: [] };
  await requireOwn(folder);
  const files = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).slice(0, MAX_RECORDS);
  const records = (await Promise.all(files.map((name) => readRecord(join(folder, name))))).filter(
    (record) => record !== undefined,
  );
  const alive = await Promise.all(records.map(isAlive));
  const sorted = records
    .map((record, at) => ({ record, isAlive: alive[at] === true }))
    .sort((one, other) => one.record.startedAt.localeCompare(other.record.startedAt));
  return {
    running: sorted.filter((one) => one.isAlive).map(({ record }) => record),
    stale: sorted.filter((one) => !one.isAlive).map(({ record }) => record),
  };
}

/** A gateway in another container with the same state folder has a pid that means nothing here, so its socket is tried too. */
async function isAlive({ process: mark, socket }: GatewayRecord): Promise<boolean> {
  return (await isRunning(mark)) || (await accepts(socket));
}

/** Removes a record and its socket; nothing else, whatever the record says. */
export async function removeRecord(folder: string, { id, socket }: GatewayRecord): Promise<void> {
  if (!isPipe(socket)) {
    const found = await lstat(socket).catch(() => undefined);
    if (found?.isSocket()) await rm(socket, { force: true });
    if (dirname(socket) !== folder && OWN_FOLDER.test(basename(dirname(socket)))) {
      await rmdir(dirname(socket)).catch(() => {}); // only an empty folder is removed
    }
  }
  await rm(recordPath(folder, id), { force: true });
}

const OWN_FOLDER = /^toolmgr-[A-Za-z0-9]+$/;
const ID = /^[a-z0-9-]{1,64}$/;

/** One record; `undefined` for a file that is none. */
async function readRecord(path: string): Promise<GatewayRecord | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_RECORD_BYTES) return undefined; // a named pipe would be waited for
  const text = await readFile(path, 'utf8').catch(() => '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !ID.test(value.id) || basename(path) !== `${value.id}.json`) return undefined;
  return value;
}

function isRecord(value: unknown): value is GatewayRecord {
  if (!isObject(value) || !isObject(value.process)) return false;
  const { process: mark, socket, url, file } = value;
  const words = [value.id, value.kind, value.name, value.version, value.startedAt, mark.started, socket];
  return (
    words.every((word) => typeof word === 'string') &&
    [url, file].every((word) => word === undefined || typeof word === 'string') &&
    Number.isSafeInteger(mark.pid) &&
    (isPipe(String(socket)) || isAbsolute(String(socket)))
  );
}
