import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@toolmgr/core';
import { atomicWrite } from '../../files/atomic-write.ts';
import { withLock } from '../../files/lock.ts';
import { whenAbsent } from '../../files/when-absent.ts';
import { WORKLOAD_FILES, workloadDir } from './workload-record.ts';

/** The secrets of one workload by name. Changes are atomic, also between processes. */
export interface WorkloadSecretStore {
  /** The value; `undefined` when there is none. */
  read(name: string): Promise<string | undefined>;
  /** @throws Error of the file system or of the encrypted secrets; the old value is unchanged */
  write(name: string, value: string): Promise<void>;
  /** Does nothing when there is no such secret. */
  remove(name: string): Promise<void>;
}

/** The encrypted secrets of this user, as far as they are for workloads. Keys are `WORKLOAD/ID/NAME`. */
export interface SystemSecrets {
  /** Whether new secrets are kept here. */
  isChosen(): Promise<boolean>;
  read(): Promise<ReadonlyMap<string, string>>;
  /** Atomic between processes. */
  change(edit: (secrets: Map<string, string>) => void): Promise<void>;
}

/** What `secrets.json` holds: values by name, or the place of encrypted values. */
export type WorkloadSecretsFile = Readonly<Record<string, string>> | { readonly encrypted: { readonly id: string } };

let system: SystemSecrets | undefined;

/** Gives this process the encrypted secrets. Called once by the host; without it only plain files can be read. */
export function useSystemSecrets(secrets: SystemSecrets | undefined): void {
  system = secrets;
}

/**
 * The secrets of a workload: in the encrypted secrets when they are set up, else in `secrets.json` beside its `run.json`,
 * mode 0600.
 */
export function workloadSecretStore(state: string, workload: string): WorkloadSecretStore {
  const change = (alter: (secrets: Map<string, string>) => boolean): Promise<void> =>
    withLock(state, workload, () => changeLocked(state, workload, alter));
  return {
    async read(name) {
      const secrets = await readWorkloadSecrets(state, workload);
      return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    },
    write: (name, value) =>
      change((secrets) => {
        if (secrets.get(name) === value) return false;
        secrets.set(name, value);
        return true;
      }),
    remove: (name) => change((secrets) => secrets.delete(name)),
  };
}

/** Stores secrets of a workload whose lock the caller has, beside those that it has. */
export async function addSecretsLocked(
  state: string,
  workload: string,
  added: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = Object.entries(added);
  if (entries.length === 0) return;
  await changeLocked(state, workload, (secrets) => {
    for (const [name, value] of entries) secrets.set(name, value);
    return true;
  });
}

async function changeLocked(
  state: string,
  workload: string,
  alter: (secrets: Map<string, string>) => boolean,
): Promise<void> {
  const file = await readFileOf(state, workload);
  const place = placeOf(file) ?? (isEmpty(file) ? await newPlace(workload) : undefined);
  if (place !== undefined) {
    if (placeOf(file) === undefined) await writeFileOf(state, workload, { encrypted: { id: place } });
    return changeEncrypted(place, alter);
  }
  const secrets = new Map(Object.entries(plainOf(file)));
  if (alter(secrets)) await writeFileOf(state, workload, Object.fromEntries(secrets));
}

/** All secrets of a workload by name; none when it has no file of them. */
export async function readWorkloadSecrets(state: string, workload: string): Promise<Readonly<Record<string, string>>> {
  const file = await readFileOf(state, workload);
  const place = placeOf(file);
  if (place === undefined) return plainOf(file);
  const all = await encrypted().read();
  const own = [...all].filter(([key]) => key.startsWith(`${place}/`));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(place.length + 1), value]));
}

/** Keeps the secrets of a workload that is being made, and returns what its `secrets.json` holds. */
export async function keepNewSecrets(
  workload: string,
  secrets: Readonly<Record<string, string>>,
): Promise<WorkloadSecretsFile> {
  const place = Object.keys(secrets).length === 0 ? undefined : await newPlace(workload);
  if (place === undefined) return secrets;
  await changeEncrypted(place, (own) => {
    for (const [name, value] of Object.entries(secrets)) own.set(name, value);
    return true;
  });
  return { encrypted: { id: place } };
}

/** The place of the encrypted secrets of a workload; `undefined` when it has none. */
export async function encryptedPlace(state: string, workload: string): Promise<string | undefined> {
  return placeOf(await readFileOf(state, workload));
}

/** Removes all secrets of a place. @throws Error when the encrypted secrets cannot be changed */
export async function forgetSecrets(place: string): Promise<void> {
  await changeEncrypted(place, (own) => {
    own.clear();
    return true;
  });
}

async function newPlace(workload: string): Promise<string | undefined> {
  // the id keeps the secrets of workloads with one name in several state folders apart
  return (await system?.isChosen()) ? `${workload}/${randomUUID().slice(0, 8)}` : undefined;
}

async function changeEncrypted(place: string, alter: (secrets: Map<string, string>) => boolean): Promise<void> {
  await encrypted().change((all) => {
    const keys = [...all.keys()].filter((key) => key.startsWith(`${place}/`));
    const own = new Map(keys.map((key) => [key.slice(place.length + 1), all.get(key) ?? '']));
    if (!alter(own)) return;
    for (const key of keys) all.delete(key);
    for (const [name, value] of own) all.set(`${place}/${name}`, value);
  });
}

function encrypted(): SystemSecrets {
  if (system !== undefined) return system;
  throw new Error('the secrets of this workload are encrypted, and this process cannot open them');
}

function placeOf(file: Readonly<Record<string, unknown>>): string | undefined {
  const { encrypted: place } = file;
  return isObject(place) && typeof place.id === 'string' ? place.id : undefined;
}

function plainOf(file: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(file).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function isEmpty(file: object): boolean {
  return Object.keys(file).length === 0;
}

async function readFileOf(state: string, workload: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(secretsFile(state, workload), 'utf8').catch(whenAbsent('{}'));
  const read: unknown = JSON.parse(text);
  return isObject(read) ? read : {};
}

function writeFileOf(state: string, workload: string, file: WorkloadSecretsFile): Promise<void> {
  return atomicWrite(secretsFile(state, workload), `${JSON.stringify(file, undefined, 2)}\n`);
}

function secretsFile(state: string, workload: string): string {
  return join(workloadDir(state, workload), WORKLOAD_FILES.secrets);
}
