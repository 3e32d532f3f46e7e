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

/** Where a core keeps the slots of plugins. A plugin may have another copy of this module than its host. */
const FILLED = Symbol.for('toolmgr.slots-of-plugins');

/** What plugins have put into a slot. */
export function slotOf<T>(core: Core, { name }: Slot<T>): Registry<T> {
  const holder = core as Core & { [FILLED]?: Map<string, Registry<unknown>> };
  holder[FILLED] ??= new Map();
  const slots = holder[FILLED];
  const slot = slots.get(name) ?? new Registry<unknown>(name);
  slots.set(name, slot);
  return slot as Registry<T>;
}
