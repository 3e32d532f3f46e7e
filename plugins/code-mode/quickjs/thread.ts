import { Worker } from 'node:worker_threads';
import type { ScriptJob, ScriptLimits, ScriptOutcome } from '@toolmgr/core';
import { cpuLimitMs, tooMuchNativeWork } from './cpu-limit.ts';
import type { FromThread, ScriptFailure, ThreadData, ToThread } from './thread-messages.ts';
import type { EngineModule } from './web-assembly.ts';

/** Time for a script to stop before its thread is terminated. Engines stop within about ten milliseconds. */
const STOP_GRACE_MS = 500;
/** Minimum cost of replacing a blocked thread; it is charged to the owner. */
const REPLACE_CPU_MS = 200;
const START_MS = 20_000; // usually 0.1 s, longer on a machine that swaps
/** Native stack of a thread. With less, deep recursion in a script overflows it before the engine notices. */
const STACK_MB = 16;
/** Heap of a thread, for the texts of the bridge; the engine's memory is separate. */
const HEAP_MB = 192;

/** Callbacks of a thread. */
export interface ThreadEvents {
  /** The thread can run the next script. */
  free(thread: Thread): void;
  /** The script has received an answer and needs a compute slot; the pool then calls `resume`. */
  wantsSlot(thread: Thread, owner: string): void;
  /** The script waits or has ended: the compute slot of `owner` is free. */
  releasesSlot(owner: string): void;
  /** Reports additional computing time. Returns a reason when the script must end. */
  computed(owner: string, cpuMs: number): string | undefined;
  /** The thread has ended. */
  gone(thread: Thread, cause: unknown): void;
}

interface Task {
  readonly run: number;
  readonly job: ScriptJob;
  readonly logs: string[];
  readonly cancelCalls: AbortController;
  readonly settle: (outcome: ScriptOutcome) => void;
  readonly steps: number;
  calls: number;
  cpuUs: number;
  isSettled: boolean;
}

/** One thread that runs one script at a time. A thread that a script blocks is replaced. */
export class Thread {
  readonly #worker: Worker;
  readonly #stop: Int32Array;
  readonly #events: ThreadEvents;
  #task: Task | undefined;
  #runs = 0;
  #cpuUs: number;
  /** The owner of the compute slot while the script computes. */
  #slot: string | undefined;
  /** The number of delivered answers, and the answers that wait for a compute slot. */
  #deliveredCount = 0;
  readonly #answers: ToThread[] = [];
  #isMeasured = false;
  #isGone = false;

  private constructor(worker: Worker, stop: Int32Array, cpuUs: number, events: ThreadEvents) {
    this.#worker = worker;
    this.#stop = stop;
    this.#cpuUs = cpuUs;
    this.#events = events;
    worker.on('message', (message: FromThread) => this.#onMessage(message));
    worker.on('error', (cause) => this.#gone(cause));
    worker.on('exit', () => this.#gone(new Error('the thread ended')));
  }

  /** Starts a thread. @throws the reason why it did not start */
  static async start(engine: EngineModule, events: ThreadEvents): Promise<Thread> {
    const stop = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: { engine, stop } satisfies ThreadData,
      execArgv: [],
      env: {}, // the thread needs no variables of the gateway
      stdout: true, // output of an engine that crashes is dropped
      stderr: true,
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    worker.stdout.resume();
    worker.stderr.resume();
    const cpuUs = await started(worker);
    return new Thread(worker, new Int32Array(stop), cpuUs, events);
  }

  /** Runs a script in a compute slot of its owner. Only for a thread that is free. */
  run(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome> {
    const run = ++this.#runs;
    return new Promise((resolve) => {
      const onAbort = (): void => this.#abandon(task, 'cancelled', 'the script was cancelled');
      const late = `the script took longer than ${limits.wallClockMs} ms`;
      const timer = setTimeout(() => this.#abandon(task, 'time', late), limits.wallClockMs);
      const settle = (outcome: ScriptOutcome): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      const cancelCalls = new AbortController();
      const { steps } = limits;
      const task: Task = { run, job, steps, logs: [], cancelCalls, settle, calls: 0, cpuUs: 0, isSettled: false };
      this.#task = task;
      this.#slot = job.owner;
      this.#deliveredCount = 0;
      this.#answers.length = 0;
      Atomics.store(this.#stop, 0, 0);
      const { script, functions } = job;
      this.#post({ type: 'run', run, script, functions, limits, data: JSON.stringify(job.data) });
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  /** Continues in a compute slot of `owner`; `false` when no answers wait. */
  resume(owner: string): boolean {
    if (this.#slot !== undefined || this.#answers.length === 0 || this.#isGone) return false;
    this.#slot = owner;
    for (const answer of this.#answers.splice(0)) this.#deliver(answer);
    return true;
  }

  /** Measures the script's computing time from outside, because built-ins of the engine cannot be interrupted. */
  async watch(): Promise<void> {
    if (this.#slot === undefined || this.#isMeasured || this.#isGone) return;
    this.#isMeasured = true;
    try {
      const { user, system } = await this.#worker.cpuUsage();
      this.#computed(user + system);
    } catch {
      // the thread is ending
    } finally {
      this.#isMeasured = false;
    }
  }

  /** Terminates the thread and cancels a running script. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #onMessage(message: FromThread): void {
    const task = this.#task;
    if (message.type === 'ready' || task === undefined || message.run !== task.run) return;
    if ('cpuUs' in message) this.#computed(message.cpuUs);
    if (message.type === 'call') void this.#call(task, message);
    else if (message.type === 'log') task.logs.push(message.line);
    else if (message.type === 'waits') {
      if (message.answered === this.#deliveredCount) this.#releaseSlot(); // otherwise an answer is on its way
    } else {
      const { logs, calls } = task;
      const { type: _, run: __, cpuUs: ___, ...outcome } = message;
      this.#settle(task, { ...outcome, logs, calls });
      this.#task = undefined;
      this.#releaseSlot();
      this.#events.free(this);
    }
  }

  async #call(task: Task, { call, tool, given }: Extract<FromThread, { type: 'call' }>): Promise<void> {
    if (task.isSettled) return; // the script has been given up: no further calls in its name
    task.calls++;
    const { signal } = task.cancelCalls;
    const answer = await task.job.call(tool, Buffer.from(given.buffer), signal).catch(() => {
      return { error: 'the call failed', name: 'ToolError' } as const;
    });
    if (task.isSettled) return;
    const message = { type: 'answer', run: task.run, call, answer } as const;
    if (this.#slot !== undefined) return this.#deliver(message);
    this.#answers.push(message);
    if (this.#answers.length === 1) this.#events.wantsSlot(this, task.job.owner);
  }

  #deliver(answer: ToThread): void {
    this.#deliveredCount++;
    this.#post(answer);
  }

  #releaseSlot(): void {
    const owner = this.#slot;
    this.#slot = undefined;
    if (owner !== undefined) this.#events.releasesSlot(owner);
  }

  /** Charges new computing time to the owner; ends a script that has used too much. */
  #computed(cpuUs: number): void {
    const task = this.#task;
    const newUs = cpuUs - this.#cpuUs;
    if (newUs <= 0) return;
    this.#cpuUs = cpuUs;
    if (task === undefined) return;
    task.cpuUs += newUs;
    const why = this.#events.computed(task.job.owner, newUs / 1000);
    if (why !== undefined) return this.#abandon(task, 'time', why);
    if (task.cpuUs / 1000 <= cpuLimitMs(task.steps)) return;
    this.#abandon(task, 'steps', tooMuchNativeWork(task.steps));
  }

  /** Reports the failure at once; the thread gets a grace period to stop. */
  #abandon(task: Task, failure: ScriptFailure, message: string): void {
    if (task.isSettled) return;
    const { logs, calls } = task;
    this.#settle(task, { failure, message, logs: [...logs], calls });
    Atomics.store(this.#stop, 0, 1);
    this.#post({ type: 'stop', run: task.run });
    const grace = setTimeout(() => {
      if (this.#task === task) void this.#worker.terminate();
    }, STOP_GRACE_MS);
    grace.unref();
  }

  #settle(task: Task, outcome: ScriptOutcome): void {
    if (task.isSettled) return;
    task.isSettled = true;
    task.settle(outcome);
    task.cancelCalls.abort(new Error('the script that called has ended'));
  }

  #gone(cause: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const task = this.#task;
    this.#task = undefined;
    const isMemory = (cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const message = isMemory ? 'the script needed too much memory' : 'the engine failed';
    if (task !== undefined) {
      const { logs, calls } = task;
      this.#settle(task, { failure: isMemory ? 'memory' : 'engine', message, logs, calls });
    }
    if (task !== undefined && this.#slot !== undefined) this.#events.computed(task.job.owner, REPLACE_CPU_MS);
    this.#releaseSlot();
    this.#events.gone(this, cause);
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}

/** Waits for the ready message; resolves with the computing time of the start. */
function started(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    const removeListeners = (): void => {
      clearTimeout(timer);
      worker.off('message', onReady).off('error', onError).off('exit', onExit); // only our own: Node has listeners too
    };
    const fail = (cause: unknown): void => {
      removeListeners();
      worker.on('error', () => {}); // ignores further errors while it ends
      void worker.terminate();
      reject(cause);
    };
    const onReady = (message: FromThread): void => {
      removeListeners();
      resolve('cpuUs' in message ? message.cpuUs : 0);
    };
    const onError = (cause: unknown): void => fail(cause);
    const onExit = (): void => fail(new Error('a thread ended before it was ready'));
    const timer = setTimeout(() => fail(new Error(`a thread did not start within ${START_MS} ms`)), START_MS);
    worker.on('message', onReady).on('error', onError).on('exit', onExit);
  });
}
