import { AsyncSeriesBailHook, AsyncSeriesWaterfallHook, SyncHook } from 'tapable';
import { GatewayFault } from '../errors.ts';
import { type Guarded, guard, type TapObserver } from './guard.ts';
import type { Hooks } from './hooks.ts';
import { Registry } from './registry.ts';
import type { Slots } from './slots.ts';

/** A slot that a package defines: it holds named implementations, which other plugins register. */
export interface Slot<T> {
  readonly name: string;
  /** Only for the type. */
  readonly implementation?: T;
}

/** `event`: results are ignored. `decision`: the first result wins. `change`: each result is the value of the next tap. */
export type HookKind = 'event' | 'decision' | 'change';

/** A hook that a package defines: other plugins tap it, the package calls it. */
export interface HookDefinition<K extends HookKind, T, R> {
  readonly name: string;
  readonly kind: K;
  /** Only for the types of the value and of the result. */
  readonly types?: (value: T) => R;
}

/** A defined hook of one gateway. */
export type DefinedHook<D> =
  D extends HookDefinition<infer K, infer T, infer R>
    ? {
        event: SyncHook<[T]>;
        decision: AsyncSeriesBailHook<[T], R | undefined>;
        change: AsyncSeriesWaterfallHook<[T]>;
      }[K] &
        Guarded
    : never;

/**
 * Defines a slot. Two definitions of one name are the same slot, also in two copies of a package.
 *
 * Shape: export the value and use it as `core.slot(value)`, in `apply` to register and in `starting` to read.
 */
export function defineSlot<T>(name: string): Slot<T> {
  return { name };
}

/** Defines a hook with one value. Shape: as {@link defineSlot}, with `core.hook(value)`. */
export function defineHook<T>(name: string, kind: 'event'): HookDefinition<'event', T, void>;
export function defineHook<T>(name: string, kind: 'change'): HookDefinition<'change', T, T>;
export function defineHook<T, R>(name: string, kind: 'decision'): HookDefinition<'decision', T, R>;
export function defineHook(name: string, kind: HookKind): HookDefinition<HookKind, unknown, unknown> {
  return { name, kind };
}

/** What plugins have defined, for one gateway. */
export interface ExtensionPoints {
  /** @throws GatewayFault PLUGIN_INVALID for the name of a slot of the core */
  slot<T>(slot: Slot<T>): Registry<T>;
  /** @throws GatewayFault PLUGIN_INVALID for the name of a hook of the core, and for two kinds of one name */
  hook<D extends HookDefinition<HookKind, never, unknown>>(definition: D): DefinedHook<D>;
  /** Plugins by hook, in the order in which they run. */
  taps(): Readonly<Record<string, readonly string[]>>;
  /** Refuses every later tap. */
  seal(): void;
}

/** Creates the slots and hooks of plugins on first use, so that it does not matter whether the definer or the user comes first. */
export function createExtensionPoints(
  core: { readonly hooks: Hooks; readonly slots: Slots },
  report: (fault: GatewayFault) => void,
  watch?: TapObserver,
): ExtensionPoints {
  const slots = new Map<string, Registry<unknown>>();
  const hooks = new Map<string, { readonly kind: HookKind; readonly hook: Guarded }>();
  let isSealed = false;
  return {
    slot<T>({ name }: Slot<T>): Registry<T> {
      if (Object.hasOwn(core.slots, name)) throw taken('slot', name);
      const slot = slots.get(name) ?? new Registry<unknown>(name);
      slots.set(name, slot);
      return slot as Registry<T>;
    },
    hook<D extends HookDefinition<HookKind, never, unknown>>({ name, kind }: D): DefinedHook<D> {
      if (Object.hasOwn(core.hooks, name)) throw taken('hook', name);
      const found = hooks.get(name) ?? { kind, hook: create(name, kind, report, watch) };
      if (found.kind !== kind) {
        const message = `the hook ${name} is defined as ${found.kind} and as ${kind}: two packages use one name`;
        throw new GatewayFault('PLUGIN_INVALID', message);
      }
      if (isSealed) found.hook.seal();
      hooks.set(name, found);
      return found.hook as unknown as DefinedHook<D>;
    },
    taps: () => Object.fromEntries([...hooks].map(([name, { hook }]) => [name, hook.tapNames()])),
    seal() {
      isSealed = true;
      for (const { hook } of hooks.values()) hook.seal();
    },
  };
}

function taken(what: 'slot' | 'hook', name: string): GatewayFault {
  return new GatewayFault(
    'PLUGIN_INVALID',
    `a plugin defines the ${what} ${name}, which the core has: core.${what}s.${name}`,
  );
}

function create(
  name: string,
  kind: HookKind,
  report: (fault: GatewayFault) => void,
  watch: TapObserver | undefined,
): Guarded {
  const hook = made(name, kind, report);
  watch?.observe(name, hook);
  return hook;
}

function made(name: string, kind: HookKind, report: (fault: GatewayFault) => void) {
  if (kind === 'event') return guard(name, new SyncHook<[unknown]>(['value']), 'tap', report);
  if (kind === 'change') return guard(name, new AsyncSeriesWaterfallHook<[unknown]>(['value']));
  return guard(name, new AsyncSeriesBailHook<[unknown], unknown>(['value']));
}
