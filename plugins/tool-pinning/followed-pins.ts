import { unwatchFile, watchFile } from 'node:fs';
import { type Core, explainCause, GatewayFault } from '@toolmgr/core';
import { pinChanged } from '@toolmgr/plugins/kit/extension-points';
import {
  type ChangedPins,
  changePins,
  type EntryPins,
  MOST_OF_ENTRY,
  NO_PINS,
  type Pins,
  pinChanges,
  pinsOf,
  readPins,
  withChanges,
  wrongHash,
} from '@toolmgr/plugins/kit/tool-pins';

/** The pins of a file, which commands and other gateways change too. */
export interface FollowedPins {
  /** The pins that are used now. */
  now(): Pins;
  /** Uses changed entries, and writes them into the file. */
  add(changed: ChangedPins): void;
  /** Reads the file and follows it. @throws GatewayFault when it cannot be read */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** How often the file is looked at. */
const POLL_MS = 1_000;

/** Follows a file of pins. `frozen`: it is never written. */
export function createFollowedPins(
  core: Core,
  { address, file, isFrozen }: { readonly address: string; readonly file: string; readonly isFrozen: boolean },
): FollowedPins {
  const { log, backends } = core;
  let pins: Pins = NO_PINS;
  let unwritten = new Map<string, Map<string, EntryPins>>();
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;
  /** The file changed while this gateway wrote it. */
  let isStale = false;

  const become = (next: Pins): void => {
    const changes = pinChanges(pins, next);
    pins = next;
    for (const change of changes) core.hook(pinChanged).call({ ...change, atMs: core.now() });
  };
  const use = (read: Pins): void => {
    if (JSON.stringify(read) === JSON.stringify(pins)) return;
    become(read);
    backends.reshape();
  };
  const report = (message: string, cause: unknown): void =>
    log.error(message, { plugin: address, cause: explainCause(cause) });

  const readAgain = async (): Promise<void> => {
    if (isWriting) {
      isStale = true;
      return;
    }
    try {
      const found = await readTrusted(file);
      if (found !== NO_PINS || pins === NO_PINS) use(withChanges(found, unlessKnown(unwritten, found)));
      // without this, everything would be used for the first time again
      else log.error('the file of pins is gone: the pins of before are kept', { plugin: address, file });
    } catch (cause) {
      report('the file of pins is not used: the pins of before are kept', cause);
    }
  };
  const onFile = (): void => void readAgain();

  /** Another gateway may have written meanwhile: its entries win, and the lists follow. */
  const writeAll = async (): Promise<void> => {
    try {
      while (unwritten.size > 0) {
        const changed = unwritten;
        unwritten = new Map();
        const base = pins;
        try {
          const merged = await changePins(file, (found) => {
            const now = found === NO_PINS ? base : found;
            return withChanges(now, unlessKnown(changed, now));
          });
          if (pins === base) use(merged);
        } catch (cause) {
          for (const [backend, entries] of changed)
            unwritten.set(backend, new Map([...entries, ...(unwritten.get(backend) ?? [])]));
          throw cause;
        }
      }
    } catch (cause) {
      report('pins could not be written: the next change tries again', cause);
    }
    // no await since the last look at what is unwritten: what comes later starts to write again
    isWriting = false;
    if (!isStale) return;
    isStale = false;
    await readAgain();
  };

  return {
    now: () => pins,
    add(changed) {
      if (changed.size === 0) return;
      become(withChanges(pins, changed));
      if (isFrozen) return;
      for (const [backend, entries] of changed)
        unwritten.set(backend, new Map([...(unwritten.get(backend) ?? []), ...entries]));
      if (isWriting) return;
      isWriting = true;
      writing = writeAll();
    },
    async start() {
      pins = await readTrusted(file);
      watchFile(file, { persistent: false, interval: POLL_MS }, onFile);
    },
    async stop() {
      unwatchFile(file, onFile);
      await writing;
    },
  };
}

/** A person who reviewed a file has read the definitions, not the hashes. @throws GatewayFault when they differ */
async function readTrusted(file: string): Promise<Pins> {
  const pins = await readPins(file);
  const wrong = wrongHash(pins);
  if (wrong === undefined) return pins;
  throw new GatewayFault('PLAN_INVALID', `${file}: the hash of ${wrong} is not that of its definition`);
}

/** Entries that the file has are left as they are there, plus what waits: approvals of a person are never overwritten. */
function unlessKnown(changed: ChangedPins, now: Pins): ChangedPins {
  return new Map(
    [...changed].map(([backend, entries]) => [
      backend,
      new Map([...entries].map(([name, ours]) => [name, joined(pinsOf(now, backend, name), ours)])),
    ]),
  );
}

function joined(theirs: EntryPins, ours: EntryPins): EntryPins {
  const decided = new Set([...theirs.approved, ...theirs.held].map(({ hash }) => hash).concat(theirs.rejected));
  const held = ours.held.filter(({ hash }) => !decided.has(hash));
  const isFirst = decided.size === 0;
  const approved = ours.approved.filter(({ hash, by }) => !decided.has(hash) && (isFirst || by === 'scan'));
  return {
    approved: [...approved, ...theirs.approved].slice(0, MOST_OF_ENTRY),
    held: [...held, ...theirs.held].slice(0, MOST_OF_ENTRY),
    rejected: theirs.rejected,
  };
}
