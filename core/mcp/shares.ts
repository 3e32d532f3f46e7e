import { isIPv6 } from 'node:net';
import type { Call } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';

/**
 * The key of a caller's share of limited resources: the caller with an identity, else the network of its connection.
 * All anonymous clients behind one proxy have the same key.
 */
export function shareOf(caller: Caller, remoteAddress: string | undefined): string {
  if (caller.issuer !== '') return caller.subjectKey ?? caller.key;
  return remoteAddress === undefined ? caller.key : networkOf(remoteAddress);
}

/** The share of a call: that of its client session, else that of its caller. */
export function shareOfCall({ client, caller, inbound }: Pick<Call, 'client' | 'caller' | 'inbound'>): string {
  return client.owner.share ?? shareOf(caller, inbound?.remoteAddress);
}

/**
 * The network that one party may own completely: an IPv4 address, or the first 64 bits of an IPv6 address (RFC 4291
 * §2.5.4). An IPv4 address mapped into IPv6 counts as IPv4.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  return networks.get(address) ?? remember(address, networkOfIPv6(address));
}

function networkOfIPv6(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%', 1); // the zone names an interface of this machine
  if (!isIPv6(plain)) return address;
  const [front = '', back] = plain.split('::');
  const head = front === '' ? [] : front.split(':');
  const tail = back === undefined || back === '' ? [] : back.split(':');
  const groups =
    back === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const first = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
}

function remember(address: string, network: string): string {
  if (networks.size >= MAX_KEPT) networks.clear();
  networks.set(address, network);
  return network;
}

/** Computed once per address, because every call needs it. */
const networks = new Map<string, string>();
const MAX_KEPT = 4096;
const NETWORK_GROUPS = 4;

/**
 * The holders of a limited resource, their items oldest first.
 *
 * A caller may hold `perCaller` items; for one more it loses one of its own. When all `total` items are taken, the
 * caller with the most items loses one to a caller with fewer: no caller can lock out others by taking everything.
 */
export class Shares<T> {
  readonly #total: number;
  readonly #perCaller: number;
  readonly #held = new Map<string, Set<T>>();
  #size = 0;

  constructor(total: number, perCaller: number) {
    this.#total = total;
    this.#perCaller = perCaller;
  }

  get size(): number {
    return this.#size;
  }

  add(key: string, item: T): void {
    const own = this.#held.get(key) ?? new Set();
    if (own.has(item)) return;
    if (own.size === 0) this.#held.set(key, own);
    own.add(item);
    this.#size++;
  }

  delete(key: string, item: T): void {
    const own = this.#held.get(key);
    if (own?.delete(item) !== true) return;
    this.#size--;
    if (own.size === 0) this.#held.delete(key);
  }

  /** Moves an item behind the others of its holder, like a new one. */
  renew(key: string, item: T): void {
    const own = this.#held.get(key);
    if (own?.delete(item) === true) own.add(item);
  }

  /** The items of one holder, oldest first. */
  of(key: string): Iterable<T> {
    return this.#held.get(key) ?? NOTHING;
  }

  /** The items of each holder, oldest first. */
  holders(): Iterable<Iterable<T>> {
    return this.#held.values();
  }

  /**
   * The items of which one has to be removed before `key` gets one more, oldest first; `undefined` while there is room.
   * Empty when `key` holds none and no other holder has more than one: then it has to wait.
   */
  donor(key: string): Iterable<T> | undefined {
    const own = this.#held.get(key);
    const count = own?.size ?? 0;
    if (own !== undefined && count >= this.#perCaller) return own;
    if (this.#size < this.#total) return undefined;
    let most: Set<T> | undefined;
    for (const held of this.#held.values()) if (held.size > (most?.size ?? 0)) most = held;
    return most !== undefined && most.size > count + 1 ? most : (own ?? NOTHING);
  }

  clear(): void {
    this.#held.clear();
    this.#size = 0;
  }
}

const NOTHING: readonly never[] = [];
