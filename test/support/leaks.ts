import { createHook } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Number of live resources by kind. */
export type LiveThings = Readonly<Record<string, number>>;

/** Counts live resources. */
export interface Census extends Disposable {
  /** Counts now, after a full collection, so that garbage does not count. */
  count(): Promise<LiveThings>;
  /**
   * Waits until no count is higher than before, because sockets and processes need time to close.
   * Rejects with the remaining difference after `ms`.
   */
  settles(before: LiveThings, ms?: number): Promise<void>;
  /** Waits until no count has become lower for `ms`, e.g. after pooled connections of a warm-up have closed. */
  quiet(ms?: number): Promise<LiveThings>;
}

/** Additional counts, e.g. sessions of a gateway. */
export type MoreCounts = () => LiveThings;

const SETTLE_MS = 12_000; // a pooled connection is kept for 3 s; a program has 4 s to end
const QUIET_MS = 3_500;
const CHECK_MS = 300; // a count is preceded by two full collections

/**
 * Counts resources of this process: file descriptors by kind, descendant processes, timers (unreferenced ones too), open
 * handles, listeners of the process and of abort signals.
 *
 * Shape: `using census = openCensus(); const before = await census.count(); …; await census.settles(before)`. Timers
 * and signals created before the opening are not counted. File descriptors and processes are counted only on Linux, from
 * /proc.
 */
export function openCensus(more: MoreCounts = () => ({})): Census {
  const timers = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  }).enable();
  const signals = watchSignals();
  const count = async (): Promise<LiveThings> => {
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve)); // async hooks run with a delay
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
        if (Date.now() > deadline) throw new Error(`not released after ${ms} ms: ${left.join(', ')}`);
        await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
      }
    },
    async quiet(ms = QUIET_MS) {
      let known = await count();
      for (let since = Date.now(); Date.now() - since < ms; ) {
        await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
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

/** Counts that are higher than before, as `kind: before -> now`. */
export function leftOver(before: LiveThings, now: LiveThings): readonly string[] {
  return Object.entries(now).flatMap(([kind, number]) => {
    const was = before[kind] ?? 0;
    return number > was ? [`${kind}: ${was} -> ${number}`] : [];
  });
}

/** Listeners of abort signals. */
export interface SignalWatch extends Disposable {
  /** Listeners of all live signals that have not aborted. */
  listeners(): number;
  /** Listeners of the signal with the most. */
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

/** Runs two full collections; the second one frees what finalizers released. */
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

/** Open descriptors of this process by kind. */
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
    if (target.startsWith('/proc/')) return undefined; // the descriptor of the folder being read
    return `descriptor (${/^(socket|pipe|anon_inode):/.exec(target)?.[1] ?? 'file'})`;
  } catch {
    return undefined; // closed in the meantime
  }
}

/** Open sockets, servers, pipes and processes of the event loop. */
function handles(): LiveThings {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (HANDLES.has(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

const HANDLES: ReadonlySet<string> = new Set(['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'ProcessWrap']);

/** Running descendant processes. */
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

/** Fields as in proc(5). State and parent come after the name, which may contain any character. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : Number(parent);
  } catch {
    return undefined; // ended in the meantime
  }
}
