import { Worker } from 'node:worker_threads';
import type { ScriptFailure, ScriptJob, ScriptLimits, ScriptOutcome } from '@toolmgr/core';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { cpuLimitMs, tooMuchNativeWork } from './native-steps.ts';
import type { EngineModule } from './web-assembly.ts';

/** From here a script is told to stop; a thread that does not is ended. Engines stop within some ten milliseconds. */
const STOP_GRACE_MS = 500;
/** What ending a thread that was deaf, and starting another, costs at least; it is the owner's. */
const REPLACE_CPU_MS = 200;
const START_MS = 20_000; // a thread starts in 0.1 s; a machine that swaps takes longer
/** Native stack of a thread. With less, deep recursion in a script overflows it before the engine notices. */
const STACK_MB = 16;
/** Heap of a thread outside the engine's memory: the bridge's own texts. */
const HEAP_MB = 192;

/** Whom a thread tells about itself. */
export interface ThreadEvents {
  /** It may take the next script. */
  free(thread: Thread): void;
  /** Its script has an answer and needs a place to compute; then `resume` is called. */
  wantsPlace(thread: Thread, owner: string): void;
  /** Its script computes no more, for now or for good: the place that was taken for `owner` is free. */
  leavesPlace(owner: string): void;
  /** Its script has computed for some milliseconds more. Tells why the owner's scripts must end, when they must. */
  computed(owner: string, cpuMs: number): string | undefined;
  /** It is no more. */
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

/** One thread with one script at a time. What a script does to it is over when the next one comes, or it is replaced. */
export class Thread {
  readonly #worker: Worker;
  readonly #stop: Int32Array;
  readonly #events: ThreadEvents;
  #task: Task | undefined;
  #runs = 0;
  #cpuUs: number;
  /** For whom a place is held while a script computes. */
  #place: string | undefined;
  /** Answers that the script was given, and those that wait for a place. */
  #given = 0;
  readonly #answers: ToThread[] = [];
  #isMeasured = false;
  #isGone = false;

  private constructor(worker: Worker, stop: Int32Array, cpuUs: number, events: ThreadEvents) {
    this.#worker = worker;
    this.#stop = stop;
    this.#cpuUs = cpuUs;
    this.#events = events;
    worker.on('message', (said: FromThread) => this.#heard(said));
    worker.on('error', (cause) => this.#gone(cause));
    worker.on('exit', () => this.#gone(new Error('the thread ended')));
  }

  /** Starts a thread. @throws what kept it from starting */
  static async start(engine: EngineModule, events: ThreadEvents): Promise<Thread> {
    const stop = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: { engine, stop } satisfies ThreadData,
      execArgv: [],
      env: {}, // nothing of the gateway's is needed there
      stdout: true, // what an engine prints at its end is nobody's business
      stderr: true,
      resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.unref();
    worker.stdout.resume();
    worker.stderr.resume();
    const cpuUs = await started(worker);
    return new Thread(worker, new Int32Array(stop), cpuUs, events);
  }

  /** Runs a script, in a place that was taken for its owner. One at a time: only when it said that it is free. */
  run(job: ScriptJob, limits: ScriptLimits, signal: AbortSignal): Promise<ScriptOutcome> {
    const run = ++this.#runs;
    return new Promise((resolve) => {
      const onAbort = (): void => this.#giveUp(task, 'cancelled', 'the script was cancelled');
      const late = `the script took longer than ${limits.wallClockMs} ms`;
      const timer = setTimeout(() => this.#giveUp(task, 'time', late), limits.wallClockMs);
      const settle = (outcome: ScriptOutcome): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        resolve(outcome);
      };
      const cancelCalls = new AbortController();
      const { steps } = limits;
      const task: Task = { run, job, steps, logs: [], cancelCalls, settle, calls: 0, cpuUs: 0, isSettled: false };
      this.#task = task;
      this.#place = job.owner;
      this.#given = 0;
      this.#answers.length = 0;
      Atomics.store(this.#stop, 0, 0);
      const { script, functions } = job;
      this.#tell({ say: 'run', run, script, functions, limits, data: JSON.stringify(job.data) });
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  /** Goes on in a place that was taken for `owner`; `false` when there is nothing to go on with. */
  resume(owner: string): boolean {
    if (this.#place !== undefined || this.#answers.length === 0 || this.#isGone) return false;
    this.#place = owner;
    for (const answer of this.#answers.splice(0)) this.#give(answer);
    return true;
  }

  /** Looks how long its script has computed, from outside: built-ins of the engine look at no clock. */
  async watch(): Promise<void> {
    if (this.#place === undefined || this.#isMeasured || this.#isGone) return;
    this.#isMeasured = true;
    try {
      const { user, system } = await this.#worker.cpuUsage();
      this.#computed(user + system);
    } catch {
      // it is on its way out
    } finally {
      this.#isMeasured = false;
    }
  }

  /** Ends it; a script that runs is cancelled. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #heard(said: FromThread): void {
    const task = this.#task;
    if (said.say === 'ready' || task === undefined || said.run !== task.run) return;
    if ('cpuUs' in said) this.#computed(said.cpuUs);
    if (said.say === 'call') void this.#call(task, said);
    else if (said.say === 'log') task.logs.push(said.line);
    else if (said.say === 'waits') {
      if (said.answered === this.#given) this.#leavePlace(); // else an answer is on its way there
    } else {
      const { logs, calls } = task;
      const { say: _, run: __, cpuUs: ___, ...outcome } = said;
      this.#settle(task, { ...outcome, logs, calls });
      this.#task = undefined;
      this.#leavePlace();
      this.#events.free(this);
    }
  }

  async #call(task: Task, { call, tool, given }: Extract<FromThread, { say: 'call' }>): Promise<void> {
    if (task.isSettled) return; // nobody waits any more: nothing more is done in its name
    task.calls++;
    const { signal } = task.cancelCalls;
    const answer = await task.job.call(tool, Buffer.from(given.buffer), signal).catch(() => {
      return { error: 'the call failed', name: 'ToolError' } as const;
    });
    if (task.isSettled) return;
    const said = { say: 'answer', run: task.run, call, answer } as const;
    if (this.#place !== undefined) return this.#give(said);
    this.#answers.push(said);
    if (this.#answers.length === 1) this.#events.wantsPlace(this, task.job.owner);
  }

  #give(answer: ToThread): void {
    this.#given++;
    this.#tell(answer);
  }

  #leavePlace(): void {
    const owner = this.#place;
    this.#place = undefined;
    if (owner !== undefined) this.#events.leavesPlace(owner);
  }

  /** What is new of it is the owner's; a script that has computed for too long ends. */
  #computed(cpuUs: number): void {
    const task = this.#task;
    const newUs = cpuUs - this.#cpuUs;
    if (newUs <= 0) return;
    this.#cpuUs = cpuUs;
    if (task === undefined) return;
    task.cpuUs += newUs;
    const why = this.#events.computed(task.job.owner, newUs / 1000);
    if (why !== undefined) return this.#giveUp(task, 'time', why);
    if (task.cpuUs / 1000 <= cpuLimitMs(task.steps)) return;
    this.#giveUp(task, 'steps', tooMuchNativeWork(task.steps));
  }

  /** The caller hears at once; the thread gets a moment to come to its senses. */
  #giveUp(task: Task, failure: ScriptFailure, message: string): void {
    if (task.isSettled) return;
    const { logs, calls } = task;
    this.#settle(task, { failure, message, logs: [...logs], calls });
    Atomics.store(this.#stop, 0, 1);
    this.#tell({ say: 'stop', run: task.run });
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
    const message = isMemory ? 'the script needed too much memory' : 'the engine gave up';
    if (task !== undefined) {
      const { logs, calls } = task;
      this.#settle(task, { failure: isMemory ? 'memory' : 'engine', message, logs, calls });
    }
    if (task !== undefined && this.#place !== undefined) this.#events.computed(task.job.owner, REPLACE_CPU_MS);
    this.#leavePlace();
    this.#events.gone(this, cause);
  }

  #tell(said: ToThread): void {
    this.#worker.postMessage(said);
  }
}

/** Resolves with what it has computed to be ready. */
function started(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      worker.off('message', onReady).off('error', onError).off('exit', onExit); // not all: Node listens too
    };
    const fail = (cause: unknown): void => {
      over();
      worker.on('error', () => {}); // on its way out it may say more
      void worker.terminate();
      reject(cause);
    };
    const onReady = (said: FromThread): void => {
      over();
      resolve('cpuUs' in said ? said.cpuUs : 0);
    };
    const onError = (cause: unknown): void => fail(cause);
    const onExit = (): void => fail(new Error('a thread ended before it was ready'));
    const timer = setTimeout(() => fail(new Error(`a thread did not start within ${START_MS} ms`)), START_MS);
    worker.on('message', onReady).on('error', onError).on('exit', onExit);
  });
}
