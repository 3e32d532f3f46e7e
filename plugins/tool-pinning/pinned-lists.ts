import { unwatchFile, watchFile } from 'node:fs';
import { type CatalogDraft, type CatalogEntry, type Core, explainCause } from '@toolmgr/core';
import {
  type ChangedPins,
  changePins,
  type EntryPins,
  isKnown,
  type JudgeContext,
  judge,
  MOST_ENTRIES,
  MOST_OF_ENTRY,
  NO_PINS,
  type PinningMode,
  type Pins,
  pinnedDefinition,
  pinsOf,
  readPins,
  type Verdict,
  withChanges,
} from '@toolmgr/plugins/kit/tool-pins';

/** What a gateway does with pins. */
export interface PinnedLists {
  /** Reads the file and follows it. @throws GatewayFault when it cannot be read */
  start(): Promise<void>;
  /** Marks the entries that are held. */
  shape(draft: CatalogDraft): CatalogDraft;
  stop(): Promise<void>;
}

/** Where the pins are and how they are used. */
export interface PinnedListsOptions {
  readonly address: string;
  readonly mode: PinningMode;
  readonly file: string;
}

/** How often the file is looked at, for changes by commands and by other gateways. */
const POLL_MS = 1_000;

/** Compares the lists of backends with the pins of a file. */
export function createPinnedLists(core: Core, { address, mode, file }: PinnedListsOptions): PinnedLists {
  const { log } = core;
  let pins: Pins = NO_PINS;
  let unwritten = new Map<string, Map<string, EntryPins>>();
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;
  /** The file changed while this gateway wrote it. */
  let isStale = false;

  const use = (read: Pins): void => {
    if (JSON.stringify(read) === JSON.stringify(pins)) return;
    pins = read;
    core.backends.reshape();
  };
  const readAgain = (): void => {
    if (isWriting) {
      isStale = true;
      return;
    }
    const read = readPins(file).then((found) => {
      if (found !== NO_PINS || pins === NO_PINS) return use(withChanges(found, unlessKnown(unwritten, found)));
      // without this, everything would be used for the first time again
      log.error('the file of pins is gone: the pins of before are kept', { plugin: address, file });
    });
    read.catch((cause: unknown) =>
      log.error('the file of pins is not used: the pins of before are kept', {
        plugin: address,
        cause: explainCause(cause),
      }),
    );
  };
  /** Writes the verdicts of this gateway. Another one may have written meanwhile: its entries win, and the lists follow. */
  const write = (): void => {
    if (isWriting) return;
    isWriting = true;
    writing = (async () => {
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
    })()
      .catch((cause: unknown) =>
        log.error('pins could not be written: the next change tries again', {
          plugin: address,
          cause: explainCause(cause),
        }),
      )
      .finally(() => {
        isWriting = false;
        if (!isStale) return;
        isStale = false;
        readAgain();
      });
  };

  const shape = (draft: CatalogDraft): CatalogDraft => {
    const knownKinds = new Map<string, boolean>();
    const counts = new Map<string, number>();
    const changed = new Map<string, Map<string, EntryPins>>();
    const marked = <E extends CatalogEntry>(entry: E): E => {
      if (entry.run !== undefined) return entry;
      const { backend, kind, original } = entry;
      const name = `${kind} ${original}`;
      const place = `${backend}\0${kind}`;
      const isBackendKnown = knownKinds.get(place) ?? isKnown(pins, backend, kind);
      knownKinds.set(place, isBackendKnown);
      const context = { mode, isKnown: isBackendKnown, now: new Date(core.now()) };
      const before = changed.get(backend)?.get(name) ?? pinsOf(pins, backend, name);
      const verdict = judged(entry.definition, before, context);
      if (verdict.changed !== undefined) {
        const entries = changed.get(backend) ?? new Map<string, EntryPins>();
        const count = counts.get(backend) ?? entriesOf(pins, backend);
        counts.set(backend, count);
        if (count + entries.size >= MOST_ENTRIES) return hold(entry, TOO_MANY);
        changed.set(backend, entries.set(name, verdict.changed));
        if (verdict.held !== undefined)
          log.warn('a definition is held until a person approves it', {
            backend,
            [kind]: original,
            reason: verdict.held,
          });
      }
      return verdict.held === undefined ? entry : hold(entry, verdict.held);
    };
    const { tools, prompts, templates } = draft;
    const shaped = {
      ...draft,
      tools: tools.map(marked),
      prompts: prompts.map(marked),
      templates: templates.map(marked),
    };
    if (changed.size > 0) {
      pins = withChanges(pins, changed);
      for (const [backend, entries] of changed)
        unwritten.set(backend, new Map([...(unwritten.get(backend) ?? []), ...entries]));
      write();
    }
    return shaped;
  };

  return {
    shape,
    async start() {
      pins = await readPins(file);
      watchFile(file, { persistent: false, interval: POLL_MS }, readAgain);
    },
    async stop() {
      unwatchFile(file, readAgain);
      await writing;
    },
  };
}

const TOO_MANY = `its backend has more than ${MOST_ENTRIES} entries`;

function hold<E extends CatalogEntry>(entry: E, held: string): E {
  return { ...entry, held, shapedBy: [...entry.shapedBy, 'pin'] };
}

function entriesOf({ backends }: Pins, backend: string): number {
  return Object.hasOwn(backends, backend) ? Object.keys(backends[backend] ?? {}).length : 0;
}

/** A definition that cannot be read, e.g. one of 10,000 levels, is held: it must not cost the lists of other backends. */
function judged(definition: Buffer, pins: EntryPins, context: JudgeContext): Verdict {
  try {
    return judge(pinnedDefinition(definition), pins, context);
  } catch (cause) {
    return { held: `its definition cannot be read (${explainCause(cause)})` };
  }
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
  const isFirst = theirs.approved.length === 0 && theirs.held.length === 0 && theirs.rejected.length === 0;
  return {
    approved: isFirst ? ours.approved : theirs.approved,
    held: [...held, ...theirs.held].slice(0, MOST_OF_ENTRY),
    rejected: theirs.rejected,
  };
}
