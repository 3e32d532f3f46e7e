import { GatewayFault } from '../errors.ts';
import { nearest } from './nearest.ts';

/** Named implementations of one slot. Filled in `apply`, resolved in `starting`, never per call. */
export class Registry<T> {
  readonly #slot: string;
  readonly #entries = new Map<string, T>();

  constructor(slot: string) {
    this.#slot = slot;
  }

  /** @throws GatewayFault SLOT_TAKEN for a duplicate name */
  register(name: string, implementation: T): void {
    if (this.#entries.has(name)) {
      throw new GatewayFault('SLOT_TAKEN', `slot ${this.#slot} already has an implementation named ${name}`);
    }
    this.#entries.set(name, implementation);
  }

  /** @throws GatewayFault SLOT_UNKNOWN listing the known names */
  get(name: string): T {
    const found = this.#entries.get(name);
    if (found !== undefined) return found;
    const known = this.names();
    const hint = nearest(name, known);
    const advice = hint === undefined ? '' : `, did you mean ${hint}?`;
    throw new GatewayFault(
      'SLOT_UNKNOWN',
      `slot ${this.#slot} has no ${name}${advice} (known: ${known.length === 0 ? 'none' : known.join(', ')})`,
    );
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Known names, sorted. */
  names(): readonly string[] {
    return [...this.#entries.keys()].sort();
  }
}
