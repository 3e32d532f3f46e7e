import { createHook } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Live things by kind. */
export type LiveThings = Readonly<Record<string, number>>;

/** A count of live things that can be taken again and again. */
export interface Census extends Disposable {
  /** Counts now, after a full collection: what only waits for the collector is no leak. */
  count(): Promise<LiveThings>;
  /**
   * Waits until nothing is more than it was, since sockets and processes take their time to close.
   * Rejects with what is left over after `ms`.
   */
  settles(before: LiveThings, ms?: number): Promise<void>;
  /** Waits until nothing has become less for `ms`: pooled connections of a warm-up have gone. */
  quiet(ms?: number): Promise<LiveThings>;
}

/** What else to count: sessions of a gateway, for example. */
export type MoreCounts = () => LiveThings;

const SETTLE_MS = 12_000; // a pooled connection is kept for 3 s, a program gets 4 s to end
const QUIET_MS = 3_500;
const LOOK_MS = 100;

/**
 * Takes stock of this process: file descriptors by kind, child processes (and theirs), timers (also those that keep no
 * process alive), open handles, listeners of the process and of abort signals.
 *
 * Shape: `using census = openCensus(); const before = await census.count(); …; await census.settles(before)`. Counting begins
 * with the opening: timers and signals that were there before are not known. File descriptors and processes are read
 * from /proc, so elsewhere than on Linux they are not counted.
 */
export function openCensus(more: MoreCounts = () => ({})): Census {
  const timers = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
  const signals = watchSignals();
  const count = async (): Promise<LiveThings> => {
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve)); // hooks lag behind
    collectGarbage();
    return {
      ...fileDescriptors(),
      ...handles(),
      'child process': descendants(process.pid),
      timer: timers.size,
      'process listener': process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
      'abort listener': signals.listeners(),
      ...more(),
    };
  };
  return {
    count,
    async settles(before, ms = SETTLE_MS) {
      const deadline = Date.now() + ms;
      for (;;) {
        const left = leftOver(before, await count());
        if (left.length === 0) return;
        if (Date.now() > deadline) throw new Error(`left over after ${ms} ms: ${left.join(', ')}`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    async quiet(ms = QUIET_MS) {
      let known = await count();
      for (let since = Date.now(); Date.now() - since < ms; ) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        const now = await count();
        if (leftOver(now, known).length > 0) since = Date.now();
        known = now;
      }
      return known;
    },
    [Symbol.dispose]() {
      hook.disable();
      signals[Symbol.dispose]();
    },
  };
}

/** What is more than before, as `kind: before -> now`. */
export function leftOver(before: LiveThings, now: LiveThings): readonly string[] {
  return Object.entries(now).flatMap(([kind, number]) => {
    const was = before[kind] ?? 0;
    return number > was ? [`${kind}: ${was} -> ${number}`] : [];
  });
}

/** Every abort signal that got a listener while this watched. */
export interface SignalWatch extends Disposable {
  /** Listeners of all signals that are still alive and may still abort. */
  listeners(): number;
  /** Listeners of the signal that has most. */
  most(): number;
}

/** Watches `addEventListener` of abort signals from now on. */
export function watchSignals(): SignalWatch {
  const known = new Set<WeakRef<AbortSignal>>();
  const seen = new WeakSet<AbortSignal>();
  const { addEventListener } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args: Parameters<typeof addEventListener>) {
    if (this instanceof AbortSignal && !seen.has(this)) {
      seen.add(this);
      known.add(new WeakRef(this));
    }
    return addEventListener.apply(this, args);
  };
  const each = (): readonly number[] => {
    const counts: number[] = [];
    for (const reference of known) {
      const signal = reference.deref();
      if (signal === undefined) known.delete(reference);
      else if (!signal.aborted) counts.push(getEventListeners(signal, 'abort').length);
    }
    return counts;
  };
  return {
    listeners: () => each().reduce((sum, number) => sum + number, 0),
    most: () => Math.max(0, ...each()),
    [Symbol.dispose]() {
      EventTarget.prototype.addEventListener = addEventListener;
    },
  };
}

/** Runs a full collection, twice: what a finalizer lets go of goes with the second. */
export function collectGarbage(): void {
  collector ??= makeCollector();
  collector();
  collector();
}

let collector: (() => void) | undefined;

function makeCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Open descriptors of this process: sockets, pipes, files and the rest. */
function fileDescriptors(): LiveThings {
  if (process.platform !== 'linux') return {};
  const counts: Record<string, number> = {};
  for (const name of readdirSync('/proc/self/fd')) {
    const kind = kindOf(`/proc/self/fd/${name}`);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function kindOf(path: string): string | undefined {
  try {
    const target = readlinkSync(path);
    if (target.startsWith('/proc/')) return undefined; // the folder that is being read
    return `descriptor (${/^(socket|pipe|anon_inode):/.exec(target)?.[1] ?? 'file'})`;
  } catch {
    return undefined; // closed while we looked
  }
}

/** Sockets, servers, pipes and processes that the event loop holds. */
function handles(): LiveThings {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (HANDLES.has(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

const HANDLES: ReadonlySet<string> = new Set(['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'ProcessWrap']);

/** Running processes below this one. */
function descendants(root: number): number {
  if (process.platform !== 'linux') return 0;
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number => (children.get(pid) ?? []).reduce((sum, child) => sum + 1 + below(child), 0);
  return below(root);
}

/** Fields as in proc(5): the state and the parent come after the name, which may hold anything. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : Number(parent);
  } catch {
    return undefined; // ended while we looked
  }
}
