import type { AsyncHook, FullTap, Hook, HookInterceptor } from 'tapable';
import { missingPackage } from '../errors/missing-package.ts';
import { GatewayFault } from '../errors.ts';

/** What stops when a tap fails: the whole hook, or only that tap. */
export type FailureScope = 'stage' | 'tap';

/** What {@link guard} adds to a hook. */
export interface Guarded {
  /** Refuses every later tap. */
  seal(): void;
  /** Whether any plugin tapped. tapable's `isUsed()` also counts interceptors. */
  tapped(): boolean;
  /** Plugin addresses in the order in which they run. (`taps` is tapable's own list.) */
  tapNames(): readonly string[];
  /** The taps in that order when all of them are synchronous; `undefined` otherwise. */
  syncTaps(): readonly ((...values: unknown[]) => unknown)[] | undefined;
}

/** Measures the taps of a hook that are added from now on. */
export interface TapObserver {
  // biome-ignore lint/suspicious/noExplicitAny: interceptors of hooks with any values
  observe(stage: string, hook: { intercept(interceptor: HookInterceptor<any, any>): void }): void;
}

type AnyTap = FullTap & { fn: (...values: unknown[]) => unknown };

/**
 * Makes every tap of a hook safe, named and unique, and closes the hook after boot.
 *
 * tapable calls a later `tapPromise` callback outside any catch, so a synchronous throw there would leave the caller
 * waiting for ever; the async wrapper turns it into a rejection. A GatewayFault is rethrown unchanged.
 * @throws GatewayFault PLUGIN_TAPPED_TWICE, PLUGIN_TAPPED_LATE when tapping; PLUGIN_FAILED when running
 */
// biome-ignore lint/suspicious/noExplicitAny: tapable's own bound for "any hook"
export function guard<H extends Hook<any, any> | AsyncHook<any, any>>(
  stage: string,
  hook: H,
  scope: FailureScope = 'stage',
  report: (fault: GatewayFault) => void = () => {},
): H & Guarded {
  let sealed = false;
  const names = new Set<string>();
  const fail = (tap: FullTap, cause: unknown): undefined => {
    const fault =
      cause instanceof GatewayFault
        ? cause
        : new GatewayFault('PLUGIN_FAILED', `${tap.name} failed in ${stage}`, {
            cause: missingPackage(cause) ?? cause,
          });
    if (scope === 'stage') throw fault;
    report(fault);
  };
  hook.intercept({
    register(raw: FullTap): FullTap {
      const tap = raw as AnyTap;
      if (sealed)
        throw new GatewayFault('PLUGIN_TAPPED_LATE', `${tap.name} tapped ${stage} after the gateway was sealed`);
      if (names.has(tap.name)) throw new GatewayFault('PLUGIN_TAPPED_TWICE', `${tap.name} tapped ${stage} twice`);
      names.add(tap.name);
      const run = tap.fn;
      const fn =
        tap.type === 'promise'
          ? async (...values: unknown[]) => {
              try {
                return await run(...values);
              } catch (cause) {
                return fail(tap, cause);
              }
            }
          : (...values: unknown[]) => {
              try {
                return run(...values);
              } catch (cause) {
                return fail(tap, cause);
              }
            };
      return { ...tap, fn } as FullTap;
    },
  });
  const order = (): string[] => (hook as unknown as { taps: FullTap[] }).taps.map((tap) => tap.name);
  return Object.assign(hook, {
    seal: () => {
      sealed = true;
    },
    tapped: () => names.size > 0,
    tapNames: order,
    syncTaps: () => {
      const { taps } = hook as unknown as { taps: AnyTap[] };
      return taps.every(({ type }) => type === 'sync') ? taps.map(({ fn }) => fn) : undefined;
    },
  });
}
