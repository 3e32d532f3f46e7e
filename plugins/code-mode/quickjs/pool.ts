import {
  explainCause,
  GatewayFault,
  type Log,
  type Sandbox,
  type ScriptJob,
  type ScriptLimits,
  type ScriptOutcome,
} from '@toolmgr/core';
import { ComputePlaces } from './compute-places.ts';
import { processorsFor, type QuickjsConfig } from './config.ts';
import { type CpuBudget, createCpuBudget } from './cpu-budget.ts';
import { compileEngine } from './engine.ts';
import { MIN_MEMORY_BYTES } from './instance.ts';
import { Thread } from './thread.ts';

/** Of all threads, what one owner's scripts may hold while others wait or may come. */
const OWNER_SHARE = 0.75;
/** How often scripts that compute are looked at from outside. */
const WATCH_MS = 100;

/** What a pool says about itself. */
export interface PoolCounts {
  readonly threads: number;
  readonly running: number;
  readonly waiting: number;
}

/** A sandbox that opens and closes. */
export interface Pool extends Sandbox {
  /** @throws GatewayFault PLUGIN_FAILED when the engine cannot be loaded or no thread starts */
  start(): Promise<void>;
  stop(): Promise<void>;
  counts(): PoolCounts;
}

/** Makes a pool of threads. Threads come when they are needed, and go when they have been idle for a while. */
export function createPool(config: QuickjsConfig, log: Pick<Log, 'warn' | 'debug'>): Pool {
  return new ThreadPool(config, log);
}

interface Waiting {
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
  readonly #queue: Waiting[] = [];
  readonly #running = new Map<string, number>();
  readonly #budget: CpuBudget;
  readonly #places: ComputePlaces;
  #watch: NodeJS.Timeout | undefined;
  #engine: WebAssembly.Module | undefined;
  #starting = 0;
  #isStopped = false;

  constructor(config: QuickjsConfig, log: Pick<Log, 'warn' | 'debug'>) {
    this.#config = config;
    this.#log = log;
    this.#budget = createCpuBudget(config.cpuPerCaller, config.cpuWindow, () => performance.now());
    this.#places = new ComputePlaces(processorsFor(config), this.#budget);
  }

  async start(): Promise<void> {
    this.#engine = await compileEngine();
    this.#watch = setInterval(() => {
      for (const thread of this.#threads) void thread.watch();
    }, WATCH_MS);
    this.#watch.unref();
    const { warm, workers } = this.#config;
    // one at least, so that what keeps threads from starting is said now and not to the first caller
    const first = Array.from({ length: Math.max(1, Math.min(warm, workers)) }, () => this.#open());
    for (const end of await Promise.allSettled(first)) {
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
      return Promise.resolve(refusal('busy', `${this.#spent()}: try again in ${Math.ceil(waitMs / 1000)} s`));
    return this.#enqueued(job, limits, signal);
  }

  #enqueued(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome> {
    return new Promise((resolve) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        const at = this.#queue.indexOf(waiting);
        if (at !== -1) this.#queue.splice(at, 1);
      };
      const refuse = (outcome: ScriptOutcome): void => {
        leave();
        resolve(outcome);
      };
      const onAbort = (): void => refuse(refusal('cancelled', 'the script was cancelled'));
      const { queueTimeout } = this.#config;
      const timer = setTimeout(() => refuse(refusal('busy', BUSY)), queueTimeout);
      const begin = (thread: Thread): void => {
        leave();
        this.#count(job.owner, 1);
        this.#places.take(job.owner);
        void thread.run(job, limits, signal).then((outcome) => {
          this.#count(job.owner, -1);
          resolve(outcome);
          this.#next();
        });
      };
      const waiting: Waiting = { job, limits, signal, refuse, begin };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiting);
      this.#next();
      this.#bound();
    });
  }

  /** Brings those who wait and threads that are free together, and starts threads for those who are left. */
  #next(): void {
    if (this.#isStopped) return;
    for (;;) {
      const [thread, timer] = this.#idle.entries().next().value ?? [];
      const waiting = thread === undefined ? undefined : this.#first();
      const resuming = this.#places.next();
      const goesOn = waiting === undefined || (resuming && !this.#places.isBefore(waiting.job.owner, resuming.owner));
      if (resuming !== undefined && goesOn) {
        resuming.resume();
        continue;
      }
      if (thread === undefined || waiting === undefined) break;
      clearTimeout(timer);
      this.#idle.delete(thread);
      waiting.begin(thread);
    }
    const wanted = this.#queue.filter((waiting) => this.#mayRun(waiting)).length;
    const room = this.#config.workers - this.#threads.size - this.#starting;
    const more = Math.min(room, wanted - this.#starting - this.#idle.size);
    for (let count = 0; count < more; count++) void this.#open().catch((cause: unknown) => this.#failed(cause));
  }

  /** Who has the fewest scripts running comes first; among equals who came first. */
  #first(): Waiting | undefined {
    let best: Waiting | undefined;
    for (const waiting of this.#queue) {
      if (!this.#mayRun(waiting)) continue;
      if (best === undefined || this.#runningOf(waiting) < this.#runningOf(best)) best = waiting;
    }
    return best;
  }

  #mayRun(waiting: Waiting): boolean {
    if (!this.#places.mayTake(waiting.job.owner)) return false;
    return this.#runningOf(waiting) < Math.max(1, Math.ceil(this.#config.workers * OWNER_SHARE));
  }

  #runningOf({ job }: Waiting): number {
    return this.#running.get(job.owner) ?? 0;
  }

  #count(owner: string, by: 1 | -1): void {
    const count = (this.#running.get(owner) ?? 0) + by;
    if (count > 0) this.#running.set(owner, count);
    else this.#running.delete(owner);
  }

  /** One too many: the last of the owner who has most of them waiting is refused, so that nobody fills the queue. */
  #bound(): void {
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
        wantsPlace: (resumed, owner) => this.#wantsPlace(resumed, owner),
        leavesPlace: (owner) => this.#leavesPlace(owner),
        computed: (owner, cpuMs) => (this.#budget.use(owner, cpuMs) ? this.#spent() : undefined),
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

  #wantsPlace(thread: Thread, owner: string): void {
    const resuming = {
      owner,
      resume: (): void => {
        this.#places.leave(resuming);
        this.#places.take(owner);
        if (!thread.resume(owner)) this.#places.release(owner); // it has ended meanwhile
      },
    };
    this.#places.wait(resuming);
    this.#next();
  }

  #leavesPlace(owner: string): void {
    this.#places.release(owner);
    this.#next();
  }

  #spent(): string {
    const { cpuPerCaller, cpuWindow } = this.#config;
    return `the scripts of this caller have computed for more than ${cpuPerCaller} ms in ${cpuWindow} ms`;
  }

  #freed(thread: Thread): void {
    if (this.#isStopped || !this.#threads.has(thread)) return;
    const timer = setTimeout(() => this.#tooIdle(thread), this.#config.idleTimeout);
    timer.unref();
    this.#idle.set(thread, timer);
    this.#next();
  }

  #tooIdle(thread: Thread): void {
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
    const wasOurs = this.#threads.delete(thread);
    if (this.#isStopped || !wasOurs) return;
    this.#log.debug('a script thread was replaced', { cause: explainCause(cause) });
    const isNeeded = this.#threads.size + this.#starting < Math.max(1, this.#config.warm);
    if (isNeeded) void this.#open().catch((failed: unknown) => this.#failed(failed));
    this.#next();
  }

  /** Without any thread nobody is served: who waits hears so instead of waiting for the time to pass. */
  #failed(cause: unknown): void {
    this.#log.warn('a script thread did not start', { cause: explainCause(cause) });
    if (this.#threads.size + this.#starting > 0) return;
    for (const waiting of this.#queue.splice(0))
      waiting.refuse(refusal('engine', 'no script can be run at the moment'));
  }
}

const BUSY = 'too many scripts are running: try again in a moment';

function refusal(failure: 'busy' | 'cancelled' | 'engine' | 'memory', message: string): ScriptOutcome {
  return { failure, message, logs: [], calls: 0 };
}
