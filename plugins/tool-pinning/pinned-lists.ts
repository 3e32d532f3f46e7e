import { type CatalogDraft, type CatalogEntry, type CatalogInputs, type Core, explainCause } from '@toolmgr/core';
import {
  type BackendShare,
  type EntryPins,
  heldCounts,
  isKnown,
  judge,
  type PinnedDefinition,
  type PinningMode,
  pinnedDefinition,
  pinnedInstructions,
  pinsOf,
  SHARE,
  scan,
  shareOf,
  type Verdict,
  withinShare,
} from '@toolmgr/plugins/kit/tool-pins';
import { createFollowedPins } from './followed-pins.ts';

/** What a gateway does with pins. */
export interface PinnedLists {
  /** Reads the file and follows it. @throws GatewayFault when it cannot be read */
  start(): Promise<void>;
  /** Marks the entries that are held. */
  shape(draft: CatalogDraft, inputs: Pick<CatalogInputs, 'listed'>): CatalogDraft;
  /** The instructions that are not held. */
  shapeInstructions<I extends { readonly backend: string; readonly text: string }>(told: readonly I[]): readonly I[];
  /** Definitions that wait for a person, by backend. */
  heldCounts(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Where the pins are and how they are used. */
export interface PinnedListsOptions {
  readonly address: string;
  readonly mode: PinningMode;
  readonly file: string;
}

/** One look at lists, with what it changed. */
interface Round {
  /** Why a definition is held; `undefined` when it is used. */
  held(backend: string, kind: string, original: string, read: () => PinnedDefinition): string | undefined;
  /** The lists of a backend are known from now on, also empty ones. */
  note(backend: string): void;
  /** Keeps what changed. */
  end(): void;
}

/** Compares the lists of backends with the pins of a file. */
export function createPinnedLists(core: Core, { address, mode, file }: PinnedListsOptions): PinnedLists {
  const { log } = core;
  const followed = createFollowedPins(core, { address, file, isFrozen: mode === 'frozen' });

  const begin = (): Round => {
    const pins = followed.now();
    const now = new Date(core.now());
    const shares = new Map<string, BackendShare | 'full'>();
    const changed = new Map<string, Map<string, EntryPins>>();
    const changesOf = (backend: string): Map<string, EntryPins> => {
      const entries = changed.get(backend) ?? new Map<string, EntryPins>();
      changed.set(backend, entries);
      return entries;
    };
    /** Whether changed pins are kept: a backend with too many is not allowed to fill the file of all. */
    const isKept = (backend: string, name: string, before: EntryPins, after: EntryPins): boolean => {
      const share = shares.get(backend) ?? shareOf(pins, backend);
      const next = share === 'full' ? 'full' : withinShare(share, name, before, after);
      shares.set(backend, next);
      if (next !== 'full') {
        changesOf(backend).set(name, after);
        return true;
      }
      if (share !== 'full')
        log.error(`definitions are held and cannot be approved: ${OVER_SHARE}`, { backend, first: name, file });
      return false;
    };
    return {
      held(backend, kind, original, read) {
        const name = `${kind} ${original}`;
        const before = changed.get(backend)?.get(name) ?? pinsOf(pins, backend, name);
        const context = { mode, isKnown: isKnown(pins, backend), now };
        const verdict = judged(() => judge(read(), before, context));
        if (verdict.changed === undefined) return verdict.held;
        if (!isKept(backend, name, before, verdict.changed)) return OVER_SHARE;
        if (verdict.held !== undefined)
          log.warn('a definition is held until a person approves it', {
            backend,
            [kind]: original,
            reason: verdict.held,
          });
        return verdict.held;
      },
      note(backend) {
        if (!isKnown(pins, backend)) changesOf(backend);
      },
      end: () => followed.add(changed),
    };
  };

  return {
    start: followed.start,
    stop: followed.stop,
    heldCounts: () => heldCounts(followed.now()),
    shape(draft, { listed }) {
      const round = begin();
      const judgedEntry = <E extends CatalogEntry>(entry: E): E => {
        const { run, backend, kind, original, definition } = entry;
        if (run !== undefined) return entry;
        const held = round.held(backend, kind, original, () => pinnedDefinition(definition));
        return held === undefined
          ? used(entry)
          : { ...entry, held, facts: factsOf(entry, false), shapedBy: [...entry.shapedBy, 'pin'] };
      };
      const { tools, prompts, templates } = draft;
      const shaped = {
        ...draft,
        tools: tools.map(judgedEntry),
        prompts: prompts.map(judgedEntry),
        templates: templates.map(judgedEntry),
      };
      for (const { backend, instructions } of listed) {
        if (instructions) heldInstructions(round, backend, instructions);
        round.note(backend);
      }
      round.end();
      return shaped;
    },
    shapeInstructions(told) {
      const round = begin();
      // not before the lists are known: they are pinned together
      const used = told.filter(
        ({ backend, text }) => isKnown(followed.now(), backend) && heldInstructions(round, backend, text) === undefined,
      );
      round.end();
      return used;
    },
  };
}

const marked = new WeakMap<CatalogEntry, CatalogEntry>();

/** The same value for the same entry, so that a rebuild makes nothing new of it. */
function used<E extends CatalogEntry>(entry: E): E {
  const before = marked.get(entry) as E | undefined;
  if (before !== undefined) return before;
  const made = { ...entry, facts: factsOf(entry, true) };
  marked.set(entry, made);
  return made;
}

/** For policies. The scanner runs when one reads what it finds. */
function factsOf({ definition }: CatalogEntry, pinned: boolean): NonNullable<CatalogEntry['facts']> {
  return (names) => ({
    ...(names.has('pinned') ? { pinned } : {}),
    ...(names.has('scan')
      ? { scan: [...new Set(scan(pinnedDefinition(definition).definition).map(({ rule }) => rule))] }
      : {}),
  });
}

function heldInstructions(round: Round, backend: string, text: string): string | undefined {
  return round.held(backend, 'instructions', 'server', () => pinnedInstructions(text));
}

const OVER_SHARE = `the pins of its backend would exceed ${SHARE.bytes / 1_048_576} MiB or ${SHARE.entries} entries`;

/** A definition that cannot be read, e.g. one of 10,000 levels, is held: it must not cost the lists of other backends. */
function judged(judging: () => Verdict): Verdict {
  try {
    return judging();
  } catch (cause) {
    return { held: `its definition cannot be read (${explainCause(cause)})` };
  }
}
