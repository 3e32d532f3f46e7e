import { type CatalogDraft, type CatalogEntry, type Core, explainCause } from '@toolmgr/core';
import {
  type BackendShare,
  type EntryPins,
  isKnown,
  type JudgeContext,
  judge,
  type PinningMode,
  pinnedDefinition,
  pinsOf,
  SHARE,
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
  shape(draft: CatalogDraft): CatalogDraft;
  stop(): Promise<void>;
}

/** Where the pins are and how they are used. */
export interface PinnedListsOptions {
  readonly address: string;
  readonly mode: PinningMode;
  readonly file: string;
}

/** Compares the lists of backends with the pins of a file. */
export function createPinnedLists(core: Core, { address, mode, file }: PinnedListsOptions): PinnedLists {
  const { log } = core;
  const followed = createFollowedPins(core, address, file);

  const shape = (draft: CatalogDraft): CatalogDraft => {
    const pins = followed.now();
    const knownKinds = new Map<string, boolean>();
    const shares = new Map<string, BackendShare | 'full'>();
    const changed = new Map<string, Map<string, EntryPins>>();
    /** Whether changed pins are kept: a backend with too many is not allowed to fill the file of all. */
    const isKept = (backend: string, name: string, before: EntryPins, after: EntryPins): boolean => {
      const share = shares.get(backend) ?? shareOf(pins, backend);
      const next = share === 'full' ? 'full' : withinShare(share, name, before, after);
      shares.set(backend, next);
      if (next !== 'full') {
        changed.set(backend, (changed.get(backend) ?? new Map<string, EntryPins>()).set(name, after));
        return true;
      }
      if (share !== 'full')
        log.error(`definitions are held and cannot be approved: ${OVER_SHARE}`, { backend, first: name, file });
      return false;
    };
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
        if (!isKept(backend, name, before, verdict.changed)) return hold(entry, OVER_SHARE);
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
    followed.add(changed);
    return shaped;
  };

  return { shape, start: followed.start, stop: followed.stop };
}

const OVER_SHARE = `the pins of its backend would exceed ${SHARE.bytes / 1_048_576} MiB or ${SHARE.entries} entries`;

function hold<E extends CatalogEntry>(entry: E, held: string): E {
  return { ...entry, held, shapedBy: [...entry.shapedBy, 'pin'] };
}

/** A definition that cannot be read, e.g. one of 10,000 levels, is held: it must not cost the lists of other backends. */
function judged(definition: Buffer, pins: EntryPins, context: JudgeContext): Verdict {
  try {
    return judge(pinnedDefinition(definition), pins, context);
  } catch (cause) {
    return { held: `its definition cannot be read (${explainCause(cause)})` };
  }
}
