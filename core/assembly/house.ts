import type { BackendRoom } from '../backend/room.ts';
import type { Catalog, Catalogs } from '../catalog/catalog.ts';
import type { Asker, Call, LinkOwner } from '../contract/call.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { type AnswerParts, answer } from '../flow/answer.ts';
import { type Denial, denialOf, denialOfMissing } from '../flow/conceal.ts';
import { LISTS } from '../flow/list.ts';
import { resolveCall } from '../flow/resolve.ts';
import type { Rooms } from '../flow/rooms.ts';
import { replyFromFault } from '../flow/wire-faults.ts';
import { listClassOf } from '../protocol/capabilities.ts';
import type { House, Intent } from '../protocol/intent.ts';
import { RawObject } from '../protocol/raw-json.ts';
import { RequestIntent } from '../protocol/request-intent.ts';
import type { FaceMaker } from './face.ts';

/** What the client edges are joined to. */
export interface HouseParts {
  readonly rooms: Rooms;
  readonly room: BackendRoom;
  readonly catalogs: Catalogs;
  readonly answering: AnswerParts;
  readonly faces: FaceMaker;
  readonly log: Log;
  /** See {@link House}. */
  readonly listClass?: NonNullable<House['listClass']>;
  /** Whether every backend has its first lists or an error. */
  isSettled(): boolean;
  settled(): Promise<void>;
  /** Resolves when backends that were added later have their first lists or an error; `undefined` when there are none. */
  settling(): Promise<void> | undefined;
}

/** Joins the client edges to the flow, the catalogues and the far side. */
export function createHouse(parts: HouseParts): House {
  const { rooms, room, catalogs, answering, faces, log } = parts;
  const welcomes = createWelcomes(room, log);
  const ready = (asker: Asker): Promise<unknown> | undefined => {
    const welcome = welcomes.of(asker.owner);
    if (parts.isSettled()) return welcome;
    return welcome === undefined ? parts.settled() : Promise.all([welcome, parts.settled()]);
  };
  /** Lists wait for backends that were added a moment ago too; a call of what is there does not. */
  const readyFor = (intent: Intent): Promise<unknown> | undefined => {
    const waiting = ready(intent.asker);
    if (!parts.isSettled() || !LISTS.has(intent.method)) return waiting;
    const added = parts.settling();
    return waiting === undefined || added === undefined ? (waiting ?? added) : Promise.all([waiting, added]);
  };
  return {
    identify: rooms.identify,
    answer(intent) {
      // The first lists are worth a bounded wait: a list that is empty because a backend was a second late lies.
      const waiting = readyFor(intent);
      return waiting === undefined ? answer(answering, intent) : waiting.then(() => answer(answering, intent));
    },
    face: faces.face,
    async mayWatch(intent, uri) {
      await ready(intent.asker);
      const params = RawObject.empty().with('uri', Buffer.from(JSON.stringify(uri)));
      const resolved = resolveCall(
        answering,
        new RequestIntent({ method: 'resources/subscribe', params }, intent, intent.asker, intent.cancel),
      );
      if ('error' in resolved) return resolved;
      const { target } = 'call' in resolved ? resolved.call : resolved.missing;
      return (await decided(parts, resolved)) ?? { entry: target };
    },
    async objection(intent) {
      await ready(intent.asker);
      const resolved = resolveCall(answering, intent);
      return 'error' in resolved ? resolved : decided(parts, resolved);
    },
    watch: (entry, uri, asker) => room.watch(entry.workload, uri, asker.owner),
    unwatch: (entry, uri, asker) => room.unwatch(entry.workload, uri, asker.owner),
    welcome: (asker) => {
      welcomes.of(asker.owner);
    },
    ...(parts.listClass === undefined ? {} : { listClass: parts.listClass }),
    release: (ownerKey) => {
      welcomes.forget(ownerKey);
      room.release(ownerKey);
    },
    onListsChanged: (listener) => catalogs.onChanged(listener),
    setLogLevel: (asker, level) => room.setLogLevel(asker.owner, level),
    rootsChanged: (asker) => room.rootsChanged(asker.owner),
    mirrored(name, asker) {
      const catalog = catalogFor(catalogs, asker);
      return (catalog.find('tool', name) ?? catalog.direct().find('tool', name))?.mirrored;
    },
  };
}

/** What stands against a call that is not made (yet): a denial, or `undefined`. */
async function decided(
  { rooms, log }: HouseParts,
  found: { readonly call: Call } | { readonly missing: Call },
): Promise<Denial | undefined> {
  const call = 'call' in found ? found.call : found.missing;
  try {
    if (call.target.isMissing) return await denialOfMissing(rooms, call);
    const refusal = await rooms.authorize(call);
    return refusal === undefined ? undefined : await denialOf(rooms, call, refusal);
  } catch (thrown) {
    log.error('a plugin failed to decide', { method: call.method, name: call.name, cause: explainCause(thrown) });
    const reply = replyFromFault(call, thrown);
    return 'error' in reply ? { error: reply.error } : { error: { code: -32603, message: 'internal error' } };
  }
}

/** The catalogue that an asker sees. */
export function catalogFor(catalogs: Catalogs, asker: Asker): Catalog {
  return catalogs.of(listClassOf(asker.owner));
}

/**
 * Owners who may see other lists than the base class: each is welcomed once, and waited for while that lasts. Where lists
 * depend on the caller, again when they have been dropped or grown old.
 */
function createWelcomes(room: Pick<BackendRoom, 'welcome' | 'callerLists'>, log: Log) {
  const known = new Map<string, Promise<void> | undefined>();
  const renewing = new Set<string>();
  const welcome = (owner: LinkOwner): Promise<void> =>
    room
      .welcome(owner)
      .catch((cause: unknown) => log.warn('lists of a capability class are missing', { cause: explainCause(cause) }));
  const renew = (owner: LinkOwner): void => {
    if (renewing.has(owner.key)) return;
    renewing.add(owner.key);
    void welcome(owner).then(() => renewing.delete(owner.key));
  };
  return {
    /** The welcome that is under way; `undefined` when there is nothing to wait for. */
    of(owner: LinkOwner): Promise<void> | undefined {
      if (listClassOf(owner) === '') return undefined;
      if (known.has(owner.key)) {
        const running = known.get(owner.key);
        if (running !== undefined || owner.listClass === undefined) return running;
        const lists = room.callerLists(owner);
        if (lists === 'old') renew(owner);
        if (lists !== 'missing') return undefined;
      }
      const waiting = welcome(owner).then(() => {
        if (known.has(owner.key)) known.set(owner.key, undefined);
      });
      known.set(owner.key, waiting);
      if (known.size > MAX_WELCOMES) known.delete(known.keys().next().value ?? '');
      return waiting;
    },
    forget(ownerKey: string): void {
      known.delete(ownerKey);
    },
  };
}

const MAX_WELCOMES = 20_000; // a forgotten owner is welcomed again, which costs one look at known lists
