import type { FullTap } from 'tapable';
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook, SyncWaterfallHook } from 'tapable';
import type { Call, CallRecord, CallResult, CatalogEntry, Dispatch } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { BackendInstructions, CatalogDraft, CatalogInputs } from '../contract/catalog-draft.ts';
import type { BackendChanged, CatalogRebuilt, LoopBlocked, SessionEnded } from '../contract/event.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { RequestRecord } from '../contract/request-record.ts';
import type { RouteTable } from '../contract/route.ts';
import type { GatewayFault } from '../errors.ts';
import { guard, type TapObserver } from './guard.ts';

/**
 * All hooks. Hooks with imperative names use the return values; hooks with past participles ignore them. `watch` measures those that
 * run while requests are served.
 */
export function createHooks(report: (fault: GatewayFault) => void, watch?: TapObserver) {
  const hooks = {
    // decisions: the first defined value wins
    authenticate: guard('authenticate', new AsyncSeriesBailHook<[Inbound], Caller | Refusal | undefined>(['inbound'])),
    authorize: guard('authorize', new AsyncSeriesBailHook<[Call], Refusal | undefined>(['call'])),
    limit: guard('limit', new AsyncSeriesBailHook<[Call], Refusal | undefined>(['call'])),
    // transformations: each value is passed to the next tap
    rewriteCall: endedByRefusal(guard('rewriteCall', new AsyncSeriesWaterfallHook<[Call]>(['call']))),
    rewriteResult: guard('rewriteResult', new AsyncSeriesWaterfallHook<[CallResult, Call]>(['result', 'call'])),
    shapeCatalog: guard('shapeCatalog', new SyncWaterfallHook<[CatalogDraft, CatalogInputs]>(['draft', 'inputs'])),
    shapeInstructions: guard(
      'shapeInstructions',
      new SyncWaterfallHook<[readonly BackendInstructions[]]>(['instructions']),
    ),
    advertise: guard(
      'advertise',
      new AsyncSeriesWaterfallHook<[readonly CatalogEntry[], Caller]>(['entries', 'caller']),
    ),
    wrapDispatch: guard('wrapDispatch', new SyncWaterfallHook<[Dispatch]>(['dispatch'])),
    // events: return values are ignored, and a failing listener does not stop the others
    callSettled: guard('callSettled', new SyncHook<[CallRecord]>(['record']), 'tap', report),
    requestSettled: guard('requestSettled', new SyncHook<[RequestRecord]>(['record']), 'tap', report),
    streamOpened: guard('streamOpened', new SyncHook<[RequestRecord]>(['record']), 'tap', report),
    sessionEnded: guard('sessionEnded', new SyncHook<[SessionEnded]>(['ended']), 'tap', report),
    backendChanged: guard('backendChanged', new SyncHook<[BackendChanged]>(['changed']), 'tap', report),
    catalogRebuilt: guard('catalogRebuilt', new SyncHook<[CatalogRebuilt]>(['rebuilt']), 'tap', report),
    loopBlocked: guard('loopBlocked', new SyncHook<[LoopBlocked]>(['blocked']), 'tap', report),
    // boot and stop
    mount: guard('mount', new SyncHook<[RouteTable]>(['routes'])),
    starting: guard('starting', new AsyncSeriesHook<[]>([])),
    stopping: inReverseOrder(guard('stopping', new AsyncSeriesHook<[]>([]), 'tap', report)),
  };
  skipUnstarted(hooks.starting, hooks.stopping);
  const { loopBlocked: _, mount, starting, stopping, ...serving } = hooks;
  for (const [stage, hook] of Object.entries(serving)) watch?.observe(stage, hook);
  return hooks;
}

/** A hook whose taps change a call or refuse it. */
type RewriteHook<H extends AsyncSeriesWaterfallHook<[Call]>> = Omit<H, 'tap' | 'tapPromise' | 'promise'> & {
  tap(options: Parameters<H['tap']>[0], change: (call: Call) => Call | Refusal): void;
  tapPromise(options: Parameters<H['tap']>[0], change: (call: Call) => Promise<Call | Refusal>): void;
  promise(call: Call): Promise<Call | Refusal>;
};

/** After a refusal no tap runs: the refusal is the result. */
function endedByRefusal<H extends AsyncSeriesWaterfallHook<[Call]>>(hook: H): RewriteHook<H> {
  hook.intercept({
    register: (tap) => {
      const { fn } = tap as FullTap & { fn: (value: Call | Refusal) => unknown };
      const skipping = (value: Call | Refusal): unknown =>
        'refused' in value ? (tap.type === 'promise' ? Promise.resolve(value) : value) : fn(value);
      return { ...tap, fn: skipping } as FullTap;
    },
  });
  return hook as unknown as RewriteHook<H>;
}

/** The hooks of one gateway. */
export type Hooks = ReturnType<typeof createHooks>;

/** Runs the taps in reverse plan order: resources opened last are closed first. */
function inReverseOrder<H extends ReturnType<typeof guard<AsyncSeriesHook<[]>>>>(hook: H): H {
  let tapped = 0;
  hook.intercept({ register: (tap) => ({ ...tap, stage: -++tapped }) });
  return hook;
}

/** Skips `stopping` of plugins whose `starting` did not run: they opened nothing. */
function skipUnstarted(starting: AsyncSeriesHook<[]>, stopping: AsyncSeriesHook<[]>): void {
  const waiting = new Set<string>();
  starting.intercept({
    register: (tap) => {
      waiting.add(tap.name);
      return wrapTap(tap, (run) => {
        waiting.delete(tap.name);
        return run();
      });
    },
  });
  stopping.intercept({
    // a callback tap must call its callback, so it always runs
    register: (tap) =>
      tap.type === 'async' ? tap : wrapTap(tap, (run) => (waiting.has(tap.name) ? Promise.resolve() : run())),
  });
}

/** The tap with its function wrapped. */
function wrapTap(tap: FullTap, around: (run: () => unknown) => unknown): FullTap {
  const run = (tap as FullTap & { fn: (...values: unknown[]) => unknown }).fn;
  return { ...tap, fn: (...values: unknown[]) => around(() => run(...values)) } as FullTap;
}
