import type { Backend } from '../../contract/backend.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import { listClassOf } from '../../mcp/capabilities.ts';
import type { ListKind } from '../../mcp/methods.ts';
import { Shares } from '../../mcp/shares.ts';
import { LinkFailure } from '../failure.ts';
import { DISCOVERY_CALLER } from '../lists/discovery-caller.ts';
import type { Connector } from './connect.ts';
import { SessionHolder, type Watchers } from './reopen-session.ts';

const SWEEP_MAX_MS = 30_000;

/** What the links of one backend are made with. */
export interface PoolOptions {
  readonly backend: Backend;
  readonly connector: Connector;
  /** What the backend shows depends on the caller: links of different callers are never shared, but for a stateless base. */
  readonly perCaller: boolean;
  readonly limits: Limits;
  readonly log: Log;
  now(): number;
  listChanged(holder: SessionHolder, kind: ListKind): void;
  lost(holder: SessionHolder, cause: LinkFailure): void;
  /** Something that a backend said in the middle of calls could not be given to one of them. */
  unclear(): void;
}

/**
 * The links of one backend: the gateway's own, which discovers, and those of owners.
 *
 * Modern backends keep no state, so everyone uses the gateway's. Legacy ones get a link per owner, or one per capability
 * class where the operator says `sessions: shared` or the server hands out no session.
 */
export class SessionPool {
  readonly base: SessionHolder;
  readonly #options: PoolOptions;
  readonly #holders = new Map<string, SessionHolder>();
  /** The seats that several owners use. */
  readonly #common = new Set<SessionHolder>();
  readonly #shares: Shares<SessionHolder>;
  /** Of owners whose seat made room for another: their next seat watches for them again. */
  readonly #interrupted = new Map<string, Watchers>();
  /** When a caller last had a process end for another of its own; those that have their share. */
  readonly #churned = new Map<string, number>();
  readonly #levels = new Map<string, string>();
  /** A modern backend that refused `initialize` serves one era only. */
  #isModernOnly: boolean;
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { backend, limits } = options;
    this.#isModernOnly = backend.era === 'modern';
    this.#shares =
      backend.transport === 'stdio'
        ? new Shares(limits.processesPerBackend, limits.processesPerCaller)
        : new Shares(limits.linksPerBackend, limits.linksPerCaller);
    const about = { key: '', share: '', caller: DISCOVERY_CALLER, capabilities: {}, capabilityClass: '' } as const;
    this.base = this.#holder({ ...about, purpose: 'discovery', owner: undefined });
    this.#common.add(this.base);
    const everyMs = Math.min(options.limits.linkIdleMs, SWEEP_MAX_MS);
    this.#sweeping = setInterval(() => this.#sweep(), everyMs);
    this.#sweeping.unref();
  }

  /** The seat that serves an owner now, if it has been made; `number` says which, where it may have several. */
  find(owner: SessionOwner, number = 0): SessionHolder | undefined {
    const key = this.#keyOf(owner);
    return key === '' ? this.base : this.#holders.get(numbered(key, number));
  }

  /**
   * The seat that serves an owner. One that finds no place takes that of an old one of the same caller, or of the caller
   * that has the most; a client of a backend of both eras shares the gateway's own when nobody can go. @throws LinkFailure BACKEND_BUSY when nobody can go
   */
  holderFor(owner: SessionOwner, number = 0): SessionHolder {
    const found = this.find(owner, number);
    if (found !== undefined) return found;
    const own = this.#keyOf(owner);
    const key = numbered(own, number);
    const { caller, capabilities } = owner;
    const capabilityClass = this.#options.perCaller ? listClassOf(owner) : owner.capabilityClass;
    const only = own === owner.key ? owner : undefined;
    const share = only === undefined ? NOBODYS : (owner.share ?? caller.key);
    const isBeside = this.#isBeside(owner);
    if (!this.#makeRoom(share)) {
      if (isBeside) return this.base;
      throw this.#busy();
    }
    const about = { key, share, caller, capabilities, capabilityClass, purpose: 'session', owner: only } as const;
    const holder = this.#holder(isBeside ? { ...about, era: '2025-11-25' } : about, this.#interrupted.get(key));
    this.#interrupted.delete(key);
    this.#holders.set(key, holder);
    this.#shares.add(share, holder);
    if (only === undefined) this.#common.add(holder);
    const level = this.#levels.get(owner.key);
    if (level !== undefined) holder.setLevel(level);
    return holder;
  }

  /** Sets the log level of an owner's link, now and when it opens later. A shared link only gets more verbose. */
  setLevel(owner: SessionOwner, level: string, atLeast: boolean, number = 0): void {
    if (!atLeast) this.#levels.set(owner.key, level);
    this.find(owner, number)?.setLevel(level, atLeast || this.#keyOf(owner) !== owner.key);
  }

  /** No session of the clients' own era could be opened: says whether their owners share the gateway's own link now. */
  noteModernOnly(): boolean {
    const beside = [...this.#holders.values()].filter(({ era }) => era !== undefined);
    if (beside.some(({ link }) => link !== undefined)) return false;
    this.#isModernOnly = true;
    for (const holder of beside) this.#drop(holder);
    return true;
  }

  /** A modern backend that serves no sessions, or is set to. */
  get isModernOnly(): boolean {
    return this.#isModernOnly;
  }

  /** The backend was found anew, and may serve what it did not. */
  forgetModernOnly(): void {
    this.#isModernOnly = this.#options.backend.era === 'modern';
  }

  /** Whether an owner sees the same lists as the gateway itself: lists are read in one era only. */
  sharesLists(owner: SessionOwner): boolean {
    return this.sharesBase(owner) || this.#isBeside(owner);
  }

  /** Whether an owner's link is the gateway's own. */
  sharesBase(owner: SessionOwner): boolean {
    return this.#keyOf(owner) === '';
  }

  /** Whether an owner's links are its own, so that it may have several. */
  isOwn(owner: SessionOwner): boolean {
    return this.#keyOf(owner) === owner.key;
  }

  /** A living link of a class, to read its lists through. */
  livingOf(capabilityClass: string): SessionHolder | undefined {
    for (const holder of this.#holders.values()) {
      if (holder.capabilityClass === capabilityClass && holder.link !== undefined) return holder;
    }
    return undefined;
  }

  /** Ends a watch that waits for its owner's next seat. */
  forgetWatch(owner: SessionOwner, uri: string): void {
    const watchers = this.#interrupted.get(owner.key);
    const counts = watchers?.get(owner.key)?.counts;
    if (counts === undefined) return;
    const count = counts.get(uri) ?? 0;
    if (count > 1) counts.set(uri, count - 1);
    else counts.delete(uri);
    if (counts.size === 0) this.#interrupted.delete(owner.key);
  }

  /** The owner has ended. */
  async release(ownerKey: string): Promise<void> {
    const own = this.#holders.get(ownerKey);
    this.#levels.delete(ownerKey);
    this.#interrupted.delete(ownerKey);
    if (own !== undefined) this.#forget(own);
    const shared = [...this.#common].map((holder) => holder.forgetOwner(ownerKey));
    await Promise.allSettled([own?.close(), ...shared]);
  }

  countLinks(): number {
    let links = this.base.link === undefined ? 0 : 1;
    for (const holder of this.#holders.values()) if (holder.link !== undefined) links++;
    return links;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const holders = [this.base, ...this.#holders.values()];
    this.#holders.clear();
    this.#common.clear();
    this.#shares.clear();
    await Promise.allSettled(holders.map((holder) => holder.close()));
  }

  /** `''` is the gateway's own link. */
  #keyOf(owner: SessionOwner): string {
    const { backend, perCaller } = this.#options;
    const own = this.base.link;
    if (own?.era === '2026-07-28') return this.#isBeside(owner) ? owner.key : '';
    // Without a base link the gateway itself is not let in.
    if (perCaller && own === undefined) return owner.key;
    const stateless = own !== undefined && !own.stateful;
    if (backend.sessions !== 'shared' && !stateless) return owner.key;
    if (owner.capabilityClass === '') return '';
    return perCaller ? owner.key : `class:${owner.capabilityClass}`;
  }

  /** A legacy client of a backend of both eras: only in a session of its own era can it be asked in every way. */
  #isBeside(owner: SessionOwner): boolean {
    if (owner.era !== '2025-11-25' || this.#isModernOnly || this.#options.backend.sessions === 'shared') return false;
    return this.base.link?.era === '2026-07-28';
  }

  #holder(
    about: Pick<ConstructorParameters<typeof SessionHolder>[0], SessionKeys>,
    watchers?: Watchers,
  ): SessionHolder {
    const { backend, connector, limits, log, listChanged, lost, unclear } = this.#options;
    const given = { ...about, backend: backend.name, connector, limits, log, listChanged, lost, unclear };
    return new SessionHolder(given, watchers);
  }

  #busy(): LinkFailure {
    const { backend } = this.#options;
    const what = backend.transport === 'stdio' ? 'processes' : 'sessions';
    const facts = { category: 'busy', notRun: true } as const;
    return new LinkFailure('BACKEND_BUSY', backend.name, `has no more ${what} for this caller: all are in use`, facts);
  }

  /** Says whether there is room for one more. */
  #makeRoom(share: string): boolean {
    const donor = this.#shares.donor(share);
    if (donor === undefined) return true;
    const spare = this.#mayStart(share) ? (spareOf(donor) ?? this.#parkedOf(donor, share)) : undefined;
    if (spare === undefined) return false;
    if (!spare.isFree) spare.giveWay();
    const isProcess = this.#options.backend.transport === 'stdio';
    if (isProcess && spare.share === share) this.#churned.set(share, this.#options.now());
    if (spare.isWatched) this.#interrupted.set(spare.key, spare.watchers);
    this.#drop(spare);
    return true;
  }

  /** For a caller without any session, when those of the one with the most are all in use: the first that waits for an answer. */
  #parkedOf(donor: Iterable<SessionHolder>, share: string): SessionHolder | undefined {
    for (const _ of this.#shares.of(share)) return undefined;
    for (const holder of donor) if (holder.isParked) return holder;
    return undefined;
  }

  /** A program costs more to start than a call: a caller that has its share must not start them as fast as it can call. */
  #mayStart(share: string): boolean {
    const lastMs = this.#churned.get(share);
    return lastMs === undefined || this.#options.now() - lastMs >= this.#options.limits.processChurnMs;
  }

  #sweep(): void {
    for (const share of this.#churned.keys()) if (this.#mayStart(share)) this.#churned.delete(share);
    const sinceMs = this.#options.now() - this.#options.limits.linkIdleMs;
    for (const holder of this.#holders.values()) if (holder.isIdleSince(sinceMs)) this.#drop(holder);
  }

  #drop(holder: SessionHolder): void {
    this.#forget(holder);
    holder.close().catch(() => undefined);
  }

  #forget(holder: SessionHolder): void {
    this.#holders.delete(holder.key);
    this.#common.delete(holder);
    this.#shares.delete(holder.share, holder);
  }
}

function numbered(key: string, number: number): string {
  return number === 0 ? key : `${key}#${number}`;
}

/** The seat that is missed least: the one used longest ago that nobody watches through, else the one used longest ago. */
function spareOf(holders: Iterable<SessionHolder>): SessionHolder | undefined {
  let spare: SessionHolder | undefined;
  for (const holder of holders) {
    if (!holder.isFree) continue;
    const isLessMissed =
      spare === undefined ||
      (holder.isWatched === spare.isWatched ? holder.usedAtMs < spare.usedAtMs : spare.isWatched);
    if (isLessMissed) spare = holder;
  }
  return spare;
}

/** The share of what several owners use. */
const NOBODYS = '';

type SessionKeys = 'key' | 'share' | 'caller' | 'capabilities' | 'capabilityClass' | 'purpose' | 'owner' | 'era';
