import type { SessionOwner } from '../../contract/client-context.ts';
import { listClassOf } from '../../mcp/capabilities.ts';
import { Shares } from '../../mcp/shares.ts';
import { ConnectionFailure } from '../failure.ts';
import { DISCOVERY_CALLER } from './backend-session.ts';
import { firstWaiting, leastMissed, ProcessStarts } from './replace-session.ts';
import type { ResourceWatchers } from './resource-watchers.ts';
import { type HeldFor, SessionHolder, type SessionHolderOptions } from './session-holder.ts';

const SWEEP_MAX_MS = 30_000;

/** What the session pool of one backend is made with. */
export interface PoolOptions extends SessionHolderOptions {
  /**
   * The lists depend on the caller: sessions are never shared by callers, except the gateway's own at a stateless
   * backend.
   */
  readonly perCaller: boolean;
  now(): number;
}

/**
 * The sessions of one backend: the gateway's own, which reads the lists, and those of owners.
 *
 * Modern backends are stateless, so all owners use the gateway's own. Legacy ones get a session per owner, or one per
 * capability class with `sessions: shared` or when the server issues no session id.
 */
export class SessionPool {
  readonly base: SessionHolder;
  readonly #options: PoolOptions;
  readonly #holders = new Map<string, SessionHolder>();
  /** Holders that several owners use. */
  readonly #common = new Set<SessionHolder>();
  readonly #shares: Shares<SessionHolder>;
  /** Subscribers of owners whose holder was replaced: their next holder subscribes again. */
  readonly #interrupted = new Map<string, ResourceWatchers>();
  readonly #processStarts: ProcessStarts;
  readonly #levels = new Map<string, string>();
  /** A modern backend that refused `initialize` supports one era only. */
  #isModernOnly: boolean;
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { backend, limits } = options;
    this.#isModernOnly = backend.era === 'modern';
    this.#processStarts = new ProcessStarts(limits.processChurnMs, options.now);
    this.#shares =
      backend.transport === 'stdio'
        ? new Shares(limits.processesPerBackend, limits.processesPerCaller)
        : new Shares(limits.linksPerBackend, limits.linksPerCaller);
    const about = { key: '', share: '', caller: DISCOVERY_CALLER, capabilities: {}, capabilityClass: '' } as const;
    this.base = new SessionHolder({ ...about, purpose: 'discovery', owner: undefined }, options);
    this.#common.add(this.base);
    const everyMs = Math.min(limits.linkIdleMs, SWEEP_MAX_MS);
    this.#sweeping = setInterval(() => this.#sweep(), everyMs);
    this.#sweeping.unref();
  }

  /** The holder of an owner, if it exists; `number` selects one of several. */
  find(owner: SessionOwner, number = 0): SessionHolder | undefined {
    const key = this.#keyOf(owner);
    if (key === '' && number === 0) return this.base;
    return this.#holders.get(numbered(key === '' ? owner.key : key, number));
  }

  /**
   * The holder of an owner. At the limit it replaces an old one of the same caller, or of the caller with the most; a
   * client of a backend of both eras shares the gateway's own when none can be replaced. @throws ConnectionFailure
   * BACKEND_BUSY when none can be replaced
   */
  holderFor(owner: SessionOwner, number = 0): SessionHolder {
    const found = this.find(owner, number);
    if (found !== undefined) return found;
    const shared = this.#keyOf(owner);
    const own = shared === '' ? owner.key : shared; // beside the gateway's own session
    const key = numbered(own, number);
    const { caller, capabilities } = owner;
    const capabilityClass = this.#options.perCaller ? listClassOf(owner) : owner.capabilityClass;
    const only = own === owner.key ? owner : undefined;
    const share = only === undefined ? OF_ALL : (owner.share ?? caller.key);
    const isBeside = this.#isBeside(owner);
    if (!this.#makeRoom(share)) {
      if (isBeside) return this.base;
      throw this.#busy();
    }
    const about = { key, share, caller, capabilities, capabilityClass, purpose: 'session', owner: only } as const;
    const heldFor: HeldFor = isBeside ? { ...about, era: '2025-11-25' } : about;
    const holder = new SessionHolder(heldFor, this.#options, this.#interrupted.get(key));
    this.#interrupted.delete(key);
    this.#holders.set(key, holder);
    this.#shares.add(share, holder);
    if (only === undefined) this.#common.add(holder);
    const level = this.#levels.get(owner.key);
    if (level !== undefined) holder.setLevel(level);
    return holder;
  }

  /**
   * Sets the log level of an owner's session, now and when it is opened later. A shared session only becomes more
   * verbose.
   */
  setLevel(owner: SessionOwner, level: string, atLeast: boolean, number = 0): void {
    if (!atLeast) this.#levels.set(owner.key, level);
    this.find(owner, number)?.setLevel(level, atLeast || this.#keyOf(owner) !== owner.key);
  }

  /**
   * No session of the clients' own era could be opened: returns whether their owners share the gateway's own session
   * now.
   */
  noteModernOnly(): boolean {
    const beside = [...this.#holders.values()].filter(({ about }) => about.era !== undefined);
    if (beside.some(({ connection }) => connection !== undefined)) return false;
    this.#isModernOnly = true;
    for (const holder of beside) this.#drop(holder);
    return true;
  }

  /** A modern backend without sessions, or configured so. */
  get isModernOnly(): boolean {
    return this.#isModernOnly;
  }

  /** The backend was found again, and may support sessions now. */
  forgetModernOnly(): void {
    this.#isModernOnly = this.#options.backend.era === 'modern';
  }

  /** Whether an owner sees the same lists as the gateway itself: lists are read in one era only. */
  sharesLists(owner: SessionOwner): boolean {
    return this.sharesBase(owner) || this.#isBeside(owner);
  }

  /** Whether an owner uses the gateway's own session. */
  sharesBase(owner: SessionOwner): boolean {
    return this.#keyOf(owner) === '';
  }

  /** Whether an owner has sessions of its own, so that it may have several. */
  isOwn(owner: SessionOwner): boolean {
    return this.#keyOf(owner) === owner.key;
  }

  /** An open session of a class, to read its lists through. */
  livingOf(capabilityClass: string): SessionHolder | undefined {
    for (const holder of this.#holders.values()) {
      if (holder.about.capabilityClass === capabilityClass && holder.connection !== undefined) return holder;
    }
    return undefined;
  }

  /** Removes a subscription that waits for its owner's next holder. */
  forgetWatch(owner: SessionOwner, uri: string): void {
    const watchers = this.#interrupted.get(owner.key);
    watchers?.remove(uri, owner.key);
    if (watchers?.isEmpty) this.#interrupted.delete(owner.key);
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

  countConnections(): number {
    let connections = this.base.connection === undefined ? 0 : 1;
    for (const holder of this.#holders.values()) if (holder.connection !== undefined) connections++;
    return connections;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    const holders = [this.base, ...this.#holders.values()];
    this.#holders.clear();
    this.#common.clear();
    this.#shares.clear();
    await Promise.allSettled(holders.map((holder) => holder.close()));
  }

  /** `''` is the gateway's own session. */
  #keyOf(owner: SessionOwner): string {
    const { backend, perCaller } = this.#options;
    const own = this.base.connection;
    if (own?.era === '2026-07-28') return this.#isBeside(owner) ? owner.key : '';
    // Without a base session the backend refused the gateway itself.
    if (perCaller && own === undefined) return owner.key;
    const stateless = own !== undefined && !own.stateful;
    if (backend.sessions === 'single') return '';
    if (backend.sessions !== 'shared' && !stateless) return owner.key;
    if (owner.capabilityClass === '') return '';
    return perCaller ? owner.key : `class:${owner.capabilityClass}`;
  }

  /** A legacy client of a backend of both eras: it can receive all requests only in a session of its own era. */
  #isBeside(owner: SessionOwner): boolean {
    const { sessions = 'perClient' } = this.#options.backend;
    if (owner.era !== '2025-11-25' || this.#isModernOnly || sessions !== 'perClient') return false;
    return this.base.connection?.era === '2026-07-28';
  }

  #busy(): ConnectionFailure {
    const { backend } = this.#options;
    const what = backend.transport === 'stdio' ? 'processes' : 'sessions';
    return new ConnectionFailure(backend.name, 'busy', `has no free ${what} for this caller`, { notRun: true });
  }

  /** Returns whether there is room for one more. */
  #makeRoom(share: string): boolean {
    const donor = this.#shares.donor(share);
    if (donor === undefined) return true;
    const spare = this.#processStarts.may(share) ? this.#spareOf(donor, share) : undefined;
    if (spare === undefined) return false;
    if (!spare.isFree) spare.endWaitingCall();
    const isProcess = this.#options.backend.transport === 'stdio';
    if (isProcess && spare.about.share === share) this.#processStarts.note(share);
    if (spare.isWatched) this.#interrupted.set(spare.about.key, spare.watchers);
    this.#drop(spare);
    return true;
  }

  /** The holder that a caller may replace: one in use only for a caller without a session. */
  #spareOf(donor: Iterable<SessionHolder>, share: string): SessionHolder | undefined {
    const free = leastMissed(donor);
    if (free !== undefined) return free;
    for (const _ of this.#shares.of(share)) return undefined;
    return firstWaiting(donor);
  }

  #sweep(): void {
    this.#processStarts.sweep();
    const sinceMs = this.#options.now() - this.#options.limits.linkIdleMs;
    for (const holder of this.#holders.values()) if (holder.isIdleSince(sinceMs)) this.#drop(holder);
  }

  #drop(holder: SessionHolder): void {
    this.#forget(holder);
    holder.close().catch(() => undefined);
  }

  #forget(holder: SessionHolder): void {
    this.#holders.delete(holder.about.key);
    this.#common.delete(holder);
    this.#shares.delete(holder.about.share, holder);
  }
}

function numbered(key: string, number: number): string {
  return number === 0 ? key : `${key}#${number}`;
}

/** The share of sessions that several owners use. */
const OF_ALL = '';
