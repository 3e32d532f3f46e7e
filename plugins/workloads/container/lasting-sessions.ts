import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isObject, type JsonObject, parsedJson } from '@toolmgr/core';
import { atomicWrite } from '@toolmgr/plugins/kit/files';

/** What was agreed with the server in a container that outlives the gateway. */
export interface LastingSession {
  /** Hash of the `initialize` request that it answered; absent for a server of a revision without sessions. */
  readonly key?: string;
  /** The result of `initialize`. */
  readonly result?: JsonObject;
}

/** The sessions of one workload by container id, in a file. */
export interface LastingSessions {
  read(): Promise<ReadonlyMap<string, LastingSession>>;
  set(containerId: string, session: LastingSession): Promise<void>;
  remove(containerId: string): Promise<void>;
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Opens the file; one that is missing or damaged has no sessions. Changes are written one after the other. */
export function lastingSessions(file: string): LastingSessions {
  let last: Promise<unknown> = Promise.resolve();
  const change = (alter: (sessions: Map<string, LastingSession>) => boolean): Promise<void> => {
    const done = last.then(async () => {
      const sessions = new Map(await readSessions(file));
      if (!alter(sessions)) return;
      const text = JSON.stringify(Object.fromEntries(sessions));
      if (text.length <= MAX_FILE_BYTES) await atomicWrite(file, `${text}\n`);
    });
    last = done.catch(() => undefined);
    return done;
  };
  return {
    read: () => last.then(() => readSessions(file)),
    set: (id, session) => change((sessions) => sessions.set(id, session) !== undefined),
    remove: (id) => change((sessions) => sessions.delete(id)),
  };
}

/** Sessions are equal when client and server may do the same in them, whatever the client is called. */
export function sessionKey({ protocolVersion, capabilities }: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify([protocolVersion, capabilities]))
    .digest('hex');
}

async function readSessions(file: string): Promise<ReadonlyMap<string, LastingSession>> {
  const value = parsedJson(await readFile(file).catch(() => ''));
  return new Map(isObject(value) ? Object.entries(value).filter(isSession) : []);
}

function isSession(entry: readonly [string, unknown]): entry is [string, LastingSession & JsonObject] {
  const [, value] = entry;
  if (!isObject(value)) return false;
  return value.key === undefined || (typeof value.key === 'string' && isObject(value.result));
}
