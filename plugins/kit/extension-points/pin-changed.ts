import { defineHook, defineSlot } from '@toolmgr/core';

/**
 * A definition of a backend is held, or a person has decided about one, also by a command or in another gateway with the same pins.
 * Reported by the plugin that holds definitions.
 */
export interface PinChanged {
  readonly change: 'held' | 'approved' | 'rejected';
  readonly backend: string;
  /** `tool`, `prompt`, `template` or `instructions`. */
  readonly kind: string;
  /** The backend's own name. */
  readonly name: string;
  /** Hash of the definition. */
  readonly hash: string;
  /** Why it is held. */
  readonly reason?: string;
  /** Who approved it. */
  readonly by?: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** Called by the plugin that holds definitions. */
export const pinChanged = defineHook<PinChanged>('pinChanged', 'event');

/** Counts the definitions that wait for a person, by backend. Filled by the plugin that holds them, read by telemetry. */
export const heldDefinitions = defineSlot<() => ReadonlyMap<string, number>>('heldDefinitions');
