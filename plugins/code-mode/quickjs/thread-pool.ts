import {
  explainCause,
  GatewayFault,
  type Log,
  type Sandbox,
  type ScriptJob,
  type ScriptLimits,
  type ScriptOutcome,
} from '@toolmgr/core';
import { ComputeSlots } from './compute-slots.ts';
import { processorsFor, type QuickjsConfig } from './config.ts';
import { type CpuBudget, createCpuBudget } from './cpu-budget.ts';
import { compileEngine } from './engine.ts';
import { MIN_MEMORY_BYTES } from './engine-instance.ts';
import { Thread } from './thread.ts';

/** The share of all threads that one owner's scripts may use. */
const OWNER_SHARE = 0.75;
/** Interval in which the processor time of running scripts is measured. */
const WATCH_MS = 100;

/** Numbers of threads and scripts of a pool. */
export interface PoolCounts {
  readonly threads: number;
  readonly running: number;
  readonly waiting: number;
}

/** A sandbox with a life cycle. */
export interface Pool extends Sandbox {
  /** @throws GatewayFault PLUGIN_FAILED when the engine cannot be loaded or no thread starts */
  start(): Promise<void>;
  stop(): Promise<void>;
  counts(): PoolCounts;
}

/** Creates a pool of threads. Threads start on demand and end when they are idle. */
export function createPool(config: QuickjsConfig, log: Pick<Log, 'warn' | 'debug'>): Pool {
  return new ThreadPool(config, log);
}

interface QueuedScript {
  readonly job: ScriptJob;
  readonly limits: ScriptLimits;
  readonly signal: AbortSignal;
  readonly refuse: (outcome: ScriptOutcome) => void;
  readonly begin: (thread: Thread) => void;
}

class ThreadPool implements Pool {
  readonly #config: QuickjsConfig;
  readonly #log: Pick<Log, 'warn' | 'debug'>;
  readonly #threads = new Set<Thread>();
  readonly #idle = new Map<Thread, NodeJS.Timeout>();
  readonly #queue: QueuedScript[] = [];
  readonly #running = new Map<string, number>();
  readonly #budget: CpuBudget;
  readonly #slots: ComputeSlots;
  #watch: NodeJS.Timeout | undefined;
  #engine: WebAssembly.Module | undefined;
  #starting = 0;
  #isStopped = false;

  constructor(config: QuickjsConfig, log: Pick<Log, 'warn' | 'debug'>) {
    this.#config = config;
    this.#log = log;
    this.#budget = createCpuBudget(config.cpuPerCaller, config.cpuWindow, () => performance.now());
    this.#slots = new ComputeSlots(processorsFor(config), this.#budget);
  }

  async start(): Promise<void> {
    this.#engine = await compileEngine();
    this.#watch = setInterval(() => {
      for (const thread of this.#threads) void thread.watch();
    }, WATCH_MS);
    this.#watch.unref();
    const { warm, workers } = this.#config;
    // starts at least one, so that a problem is reported at the start and not to the first caller
    const nextQueued = Array.from({ length: Math.max(1, Math.min(warm, workers)) }, () => this.#open());
    for (const end of await Promise.allSettled(nextQueued)) {
      if (end.status === 'fulfilled') continue;
      await this.stop();
      throw new GatewayFault('PLUGIN_FAILED', 'code-mode/quickjs cannot start a thread', { cause: end.reason });
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#watch);
    for (const waiting of this.#queue.splice(0)) waiting.refuse(refusal('cancelled', 'the gateway is stopping'));
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  counts(): PoolCounts {
    const running = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    return { threads: this.#threads.size, running, waiting: this.#queue.length };
  }

  run(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome> {
    if (limits.memoryBytes < MIN_MEMORY_BYTES) {
      const message = `the engine needs ${MIN_MEMORY_BYTES} bytes of memory, the limit is ${limits.memoryBytes}`;
      return Promise.resolve(refusal('memory', message));
    }
    if (signal.aborted) return Promise.resolve(refusal('cancelled', 'the script was cancelled'));
    if (this.#isStopped || this.#engine === undefined) {
      return Promise.resolve(refusal('busy', 'the gateway is stopping'));
    }
    const waitMs = this.#budget.waitMs(job.owner);
    if (waitMs > 0)
      return Promise.resolve(refusal('busy', `${this.#budgetExceeded()}: try again in ${Math.ceil(waitMs / 1000)} s`));
    return this.#enqueue(job, limits, signal);
  }

  #enqueue(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome> {
    return new Promise((resolve) => {
      const dequeue = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        const at = this.#queue.indexOf(waiting);
        if (at !== -1) this.#queue.splice(at, 1);
      };
      const refuse = (outcome: ScriptOutcome): void => {
        dequeue();
        resolve(outcome);
      };
      const onAbort = (): void => refuse(refusal('cancelled', 'the script was cancelled'));
      const { queueTimeout } = this.#config;
      const timer = setTimeout(() => refuse(refusal('busy', BUSY)), queueTimeout);
      const begin = (thread: Thread): void => {
        dequeue();
        this.#count(job.owner, 1);
        this.#slots.take(job.owner);
        void thread.run(job, limits, signal).then((outcome) => {
          this.#count(job.owner, -1);
          resolve(outcome);
          this.#next();
        });
      };
      const waiting: QueuedScript = { job, limits, signal, refuse, begin };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiting);
      this.#next();
      this.#enforceQueueLimit();
    });
  }

  /** Assigns queued scripts to idle threads, resumes scripts, and starts threads for the remaining ones. */
  #next(): void {
    if (this.#isStopped) return;
    for (;;) {
      const [thread, timer] = this.#idle.entries().next().value ?? [];
      const waiting = thread === undefined ? undefined : this.#nextQueued();
      const request = this.#slots.next();
      const resumesFirst =
        waiting === undefined || (request && !this.#slots.isBefore(waiting.job.owner, request.owner));
      if (request !== undefined && resumesFirst) {
        request.resume();
        continue;
      }
      if (thread === undefined || waiting === undefined) break;
      clearTimeout(timer);
      this.#idle.delete(thread);
      waiting.begin(thread);
    }
    const wanted = this.#queue.filter((waiting) => this.#canRun(waiting)).length;
    const free = this.#config.workers - this.#threads.size - this.#starting;
    const more = Math.min(free, wanted - this.#starting - this.#idle.size);
    for (let count = 0; count < more; count++) void this.#open().catch((cause: unknown) => this.#failed(cause));
  }

  /** The owner with the fewest running scripts comes first; with equal numbers, the oldest script. */
  #nextQueued(): QueuedScript | undefined {
    let best: QueuedScript | undefined;
    for (const waiting of this.#queue) {
      if (!this.#canRun(waiting)) continue;
      if (best === undefined || this.#runningOf(waiting) < this.#runningOf(best)) best = waiting;
    }
    return best;
  }

  #canRun(waiting: QueuedScript): boolean {
    if (!this.#slots.canTake(waiting.job.owner)) return false;
    return this.#runningOf(waiting) < Math.max(1, Math.ceil(this.#config.workers * OWNER_SHARE));
  }

  #runningOf({ job }: QueuedScript): number {
    return this.#running.get(job.owner) ?? 0;
  }

  #count(owner: string, by: 1 | -1): void {
    const count = (this.#running.get(owner) ?? 0) + by;
    if (count > 0) this.#running.set(owner, count);
    else this.#running.delete(owner);
  }

  /** When the queue is too long, refuses the last script of the owner with the most queued ones. */
  #enforceQueueLimit(): void {
    if (this.#queue.length <= this.#config.queue + this.#starting) return;
    const byOwner = Map.groupBy(this.#queue, ({ job }) => job.owner);
    const longest = [...byOwner.values()].reduce((most, each) => (each.length >= most.length ? each : most));
    longest.at(-1)?.refuse(refusal('busy', BUSY));
  }

  async #open(): Promise<void> {
    const engine = this.#engine;
    if (engine === undefined) return;
    this.#starting++;
    try {
      const thread = await Thread.start(engine, {
        free: (free) => this.#freed(free),
        gone: (gone, cause) => this.#gone(gone, cause),
        wantsSlot: (resumed, owner) => this.#wantsSlot(resumed, owner),
        releasesSlot: (owner) => this.#releasesSlot(owner),
        computed: (owner, cpuMs) => (this.#budget.use(owner, cpuMs) ? this.#budgetExceeded() : undefined),
      });
      this.#threads.add(thread);
      this.#starting--;
      if (this.#isStopped) await thread.end();
      else this.#freed(thread);
    } catch (cause) {
      this.#starting--;
      throw cause;
    }
  }

  #wantsSlot(thread: Thread, owner: string): void {
    const request = {
      owner,
      resume: (): void => {
        this.#slots.cancel(request);
        this.#slots.take(owner);
        if (!thread.resume(owner)) this.#slots.release(owner); // the script has ended in the meantime
      },
    };
    this.#slots.wait(request);
    this.#next();
  }

  #releasesSlot(owner: string): void {
    this.#slots.release(owner);
    this.#next();
  }

  #budgetExceeded(): string {
    const { cpuPerCaller, cpuWindow } = this.#config;
    return `the scripts of this caller have used more than ${cpuPerCaller} ms of processor time in ${cpuWindow} ms`;
  }

  #freed(thread: Thread): void {
    if (this.#isStopped || !this.#threads.has(thread)) return;
    const timer = setTimeout(() => this.#idleTimedOut(thread), this.#config.idleTimeout);
    timer.unref();
    this.#idle.set(thread, timer);
    this.#next();
  }

  #idleTimedOut(thread: Thread): void {
    if (this.#idle.size <= this.#config.warm || this.#threads.size <= 1) {
      this.#idle.get(thread)?.refresh();
      return;
    }
    this.#idle.delete(thread);
    this.#threads.delete(thread);
    void thread.end();
  }

  #gone(thread: Thread, cause: unknown): void {
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
    const wasRegistered = this.#threads.delete(thread);
    if (this.#isStopped || !wasRegistered) return;
    this.#log.debug('a script thread was replaced', { cause: explainCause(cause) });
    const isNeeded = this.#threads.size + this.#starting < Math.max(1, this.#config.warm);
    if (isNeeded) void this.#open().catch((failed: unknown) => this.#failed(failed));
    this.#next();
  }

  /** When no thread is left, refuses queued scripts at once instead of letting them time out. */
  #failed(cause: unknown): void {
    this.#log.warn('a script thread did not start', { cause: explainCause(cause) });
    if (this.#threads.size + this.#starting > 0) return;
    for (const waiting of this.#queue.splice(0)) waiting.refuse(refusal('engine', 'no script can run at the moment'));
  }
}

const BUSY = 'too many scripts are running: try again in a moment';

function refusal(failure: 'busy' | 'cancelled' | 'engine' | 'memory', message: string): ScriptOutcome {
  return { failure, message, logs: [], calls: 0 };
}
