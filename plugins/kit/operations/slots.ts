import { type Core, Registry } from '@toolmgr/core';

/** An extension point that a plugin or host defines; others fill it. */
export interface Slot<T> {
  readonly name: string;
  /** Only for the type. */
  readonly implementation?: T;
}

/** Defines a slot. */
export function defineSlot<T>(name: string): Slot<T> {
  return { name };
}

const filled = new WeakMap<Core, Map<string, Registry<unknown>>>();

/** What plugins have put into a slot. */
export function slotOf<T>(core: Core, { name }: Slot<T>): Registry<T> {
  const slots = filled.get(core) ?? new Map<string, Registry<unknown>>();
  filled.set(core, slots);
  const slot = slots.get(name) ?? new Registry<unknown>(name);
  slots.set(name, slot);
  return slot as Registry<T>;
}
