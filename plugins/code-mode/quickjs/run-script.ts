import type { ScriptAnswer } from '@toolmgr/core';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import { callArguments } from './call-arguments.ts';
import { cpuLimitMs, tooMuchNativeWork } from './cpu-limit.ts';
import { type Instance, isFull } from './engine-instance.ts';
import { GUEST } from './guest.ts';
import { jsonSize } from './json-size.ts';
import type { Assignment, ThreadOutcome } from './thread-messages.ts';

/** Steps between two polls of the engine (JS_INTERRUPT_COUNTER_INIT of QuickJS). */
export const STEPS_PER_POLL = 10_000;
const STACK_BYTES = 524_288; // of the engine; less than the thread's stack, so that deep recursion is an error of the script
const JOBS_PER_TURN = 64; // microtasks between two checks of the limits
/** Bytes of arguments of queued calls; they are outside the thread's heap. */
const MAX_WAITING_BYTES = 33_554_432;
const MAX_TOOL_NAME = 4_096; // characters; longer names cannot exist
const MAX_DEPTH = 200; // of a result; the gateway's codec has a limit of 256
const MAX_LOG_LINES = 1_000;

/** The host side of the bridge. */
export interface ScriptHost {
  call(call: number, tool: string, given: Uint8Array<ArrayBuffer>): void;
  log(line: string): void;
  /** The script waits for answers; `answered` is the number of answers that it has received. */
  waits(answered: number): void;
  /** Computing time of this thread since its start, in microseconds. */
  cpuUs(): number;
  /** Called once, as the last call. */
  end(outcome: ThreadOutcome): void;
  /** Whether the gateway asked the script to stop. */
  isStopped(): boolean;
}

/** The limit that a script exceeded: steps, processor time, or wall-clock time. */
type ExceededLimit = 'steps' | 'native' | 'time';

/** A running script. */
export interface ScriptRun {
  answer(call: number, answer: ScriptAnswer): void;
  /** Stops the script while it waits for an answer. */
  stop(): void;
}

/**
 * Runs a script in its own instance. The script exchanges only texts and numbers with the host and has no access to host
 * objects. An error that the engine throws in the host ends the script.
 */
export function runScript(instance: Instance, assignment: Assignment, host: ScriptHost): ScriptRun {
  return new Run(instance, assignment, host);
}

class Run implements ScriptRun {
  readonly #instance: Instance;
  readonly #assignment: Assignment;
  readonly #host: ScriptHost;
  readonly #runtime: QuickJSRuntime;
  readonly #vm: QuickJSContext;
  readonly #deadline: number;
  readonly #cpuEndUs: number;
  #answer: QuickJSHandle | undefined;
  #polls = 0;
  #exceeded: ExceededLimit | undefined;
  #isEnded = false;
  #calls = 0;
  #answered = 0;
  #inFlight = 0;
  readonly #waiting: { readonly call: number; readonly tool: string; readonly given: Uint8Array<ArrayBuffer> }[] = [];
  #waitingBytes = 0;
  #logBytes = 0;
  #logLines = 0;

  constructor(instance: Instance, assignment: Assignment, host: ScriptHost) {
    this.#instance = instance;
    this.#assignment = assignment;
    this.#host = host;
    this.#deadline = performance.now() + assignment.limits.wallClockMs;
    this.#cpuEndUs = host.cpuUs() + cpuLimitMs(assignment.limits.steps) * 1000;
    this.#runtime = instance.module.newRuntime();
    this.#runtime.setMaxStackSize(STACK_BYTES);
    this.#vm = this.#runtime.newContext();
    this.#guarded(() => this.#start());
  }

  answer(call: number, answer: ScriptAnswer): void {
    if (this.#isEnded) return;
    this.#inFlight--;
    this.#answered++;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#waitingBytes -= next.given.byteLength;
      this.#send(next.call, next.tool, next.given);
    }
    const [kind, said] = kindOf(answer);
    this.#guarded(() => {
      const { undefined: nothing } = this.#vm;
      const given = [this.#vm.newNumber(call), this.#vm.newString(kind), this.#vm.newString(said)];
      if (this.#answer !== undefined) this.#check(this.#vm.callFunction(this.#answer, nothing, ...given));
      this.#runJobs();
    });
  }

  stop(): void {
    this.#end({ failure: 'time', message: 'stopped' });
  }

  /** Runs the bridge code without limits first, then the script with limits. */
  #start(): void {
    const vm = this.#vm;
    const { script, functions, data, limits } = this.#assignment;
    const given = [
      vm.newFunction('send', (...said) => this.#onMessage(said)),
      vm.newString(JSON.stringify(functions)),
      vm.newString(data),
      vm.newNumber(limits.concurrency),
      vm.newNumber(limits.resultBytes),
    ];
    const guest = vm.unwrapResult(vm.evalCode(GUEST, 'gateway.js', { type: 'global' }));
    const bridge = vm.unwrapResult(vm.callFunction(guest, vm.undefined, ...given));
    this.#answer = vm.getProp(bridge, 'answer');
    this.#runtime.setInterruptHandler(() => this.#mustStop());
    // the wrapper is on the first line, so that line numbers in errors match the script
    const body = vm.evalCode(`(async () => {${script}\n})`, 'script.js', { type: 'global' });
    if (body.error !== undefined) return this.#failed(body.error);
    this.#check(vm.callFunction(vm.getProp(bridge, 'start'), vm.undefined, body.value));
    this.#runJobs();
  }

  /** Runs pending jobs. Without jobs and calls in flight the script can never continue. */
  #runJobs(): void {
    while (!this.#isEnded && this.#runtime.hasPendingJob()) {
      this.#check(this.#runtime.executePendingJobs(JOBS_PER_TURN));
      if (performance.now() > this.#deadline) this.#exceeded ??= 'time';
      if (this.#host.isStopped()) this.#exceeded ??= 'time';
      if (this.#host.cpuUs() > this.#cpuEndUs) this.#exceeded ??= 'native';
      if (this.#exceeded !== undefined) this.#endExceeded(this.#exceeded);
    }
    if (this.#exceeded !== undefined) this.#endExceeded(this.#exceeded);
    if (this.#isEnded) return;
    if (this.#inFlight > 0) return this.#host.waits(this.#answered);
    this.#end({ failure: 'stuck', message: 'the script waits for a promise that never settles' });
  }

  #mustStop(): boolean {
    if (this.#exceeded !== undefined) return true;
    this.#polls++;
    if (this.#polls * STEPS_PER_POLL > this.#assignment.limits.steps) this.#exceeded = 'steps';
    else if (this.#host.cpuUs() > this.#cpuEndUs) this.#exceeded = 'native';
    else if (performance.now() > this.#deadline || this.#host.isStopped()) this.#exceeded = 'time';
    return this.#exceeded !== undefined;
  }

  /** An error that reaches the host means an exceeded limit or a failed engine. */
  #check(result: { readonly error?: QuickJSHandle | undefined }): void {
    if (result.error !== undefined) this.#failed(result.error);
  }

  #failed(error: QuickJSHandle): void {
    if (this.#exceeded !== undefined) return this.#endExceeded(this.#exceeded);
    const vm = this.#vm;
    const member = (name: string): string => {
      const value = vm.getProp(error, name);
      return vm.typeof(value) === 'string' ? vm.getString(value) : '';
    };
    // only a syntax error gets here with an object, so no getter of the script can run
    const isObject = vm.typeof(error) === 'object' && vm.typeof(vm.getProp(error, 'message')) === 'string';
    const line = isObject ? /script\.js:(\d+)/.exec(member('stack'))?.[1] : undefined;
    const said = isObject ? `${member('name')}: ${member('message')}` : 'the engine failed';
    this.#endFailed('error', `${said}${line === undefined ? '' : ` (line ${line})`}`);
  }

  #endExceeded(exceeded: ExceededLimit): void {
    const { steps, wallClockMs } = this.#assignment.limits;
    const { failure, message } = {
      steps: { failure: 'steps', message: `the script took more than ${steps} steps` },
      native: { failure: 'steps', message: tooMuchNativeWork(steps) },
      time: { failure: 'time', message: `the script took longer than ${wallClockMs} ms` },
    }[exceeded] as { readonly failure: 'steps' | 'time'; readonly message: string };
    this.#end({ failure, message });
  }

  #endFailed(failure: 'error' | 'engine', message: string): void {
    if (!isFull(this.#instance)) return this.#end({ failure, message });
    const { memoryBytes } = this.#instance;
    this.#end({ failure: 'memory', message: `the script needed more than ${memoryBytes} bytes of memory` });
  }

  #end(outcome: ThreadOutcome): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#host.end(outcome);
  }

  /** Any error that the engine throws in the host (a trap, stack overflow, out of memory) ends only this script. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch {
      if (this.#exceeded !== undefined) this.#endExceeded(this.#exceeded);
      else this.#endFailed('engine', 'the engine failed');
    }
  }

  /** Handles a message from the script. Returns a text to refuse it. */
  #onMessage(said: readonly QuickJSHandle[]): QuickJSHandle {
    const [kind, ...rest] = said.map((handle) => this.#read(handle));
    // an async function can catch the error of a limit and continue, so the limit is checked again here
    if (this.#exceeded !== undefined) this.#endExceeded(this.#exceeded);
    const refusal = this.#isEnded ? 'the script has ended' : this.#handle(kind, rest);
    return refusal === undefined ? this.#vm.undefined : this.#vm.newString(refusal);
  }

  #read(handle: QuickJSHandle): string | number | undefined {
    const kind = this.#vm.typeof(handle);
    if (kind === 'string') return this.#vm.getString(handle);
    return kind === 'number' ? this.#vm.getNumber(handle) : undefined;
  }

  #handle(kind: unknown, [first, second, third]: readonly (string | number | undefined)[]): string | undefined {
    if (kind === 'call' && typeof first === 'number' && typeof second === 'string' && typeof third === 'string') {
      return this.#startCall(first, textFrom(second), third);
    }
    if (kind === 'log' && typeof first === 'string') this.#addLog(textFrom(first));
    else if (kind === 'done' && typeof first === 'string') this.#done(first);
    else if (kind === 'fail' && first === 'result') this.#tooLarge();
    else if (kind === 'fail' && typeof second === 'string') this.#endFailed('error', textFrom(second));
    return undefined;
  }

  #startCall(call: number, tool: string, given: string): string | undefined {
    const { limits } = this.#assignment;
    if (this.#calls >= limits.calls) return `a script may make ${limits.calls} tool calls`;
    const checked = callArguments(given);
    if ('problem' in checked) return checked.problem;
    const { bytes } = checked;
    const waits = this.#inFlight >= limits.concurrency;
    if (waits && this.#waitingBytes + bytes.byteLength > MAX_WAITING_BYTES) {
      return `the arguments of queued calls are larger than ${MAX_WAITING_BYTES} bytes`;
    }
    this.#calls++;
    const name = tool.slice(0, MAX_TOOL_NAME);
    if (!waits) this.#send(call, name, bytes);
    else {
      this.#waitingBytes += bytes.byteLength;
      this.#waiting.push({ call, tool: name, given: bytes });
    }
    return undefined;
  }

  #send(call: number, tool: string, given: Uint8Array<ArrayBuffer>): void {
    this.#inFlight++;
    this.#host.call(call, tool, given);
  }

  #addLog(line: string): void {
    const { logBytes } = this.#assignment.limits;
    if (this.#logBytes > logBytes || this.#logLines >= MAX_LOG_LINES) return;
    this.#logBytes += Buffer.byteLength(line);
    this.#logLines++;
    const isOver = this.#logBytes > logBytes || this.#logLines >= MAX_LOG_LINES;
    this.#host.log(isOver ? '(further logs were dropped)' : line);
  }

  #done(json: string): void {
    if (Buffer.byteLength(json) > this.#assignment.limits.resultBytes) return this.#tooLarge();
    if (jsonSize(json, { depth: MAX_DEPTH, members: Number.POSITIVE_INFINITY }).depth > MAX_DEPTH) {
      return this.#end({ failure: 'result', message: `the result is nested deeper than ${MAX_DEPTH}` });
    }
    try {
      JSON.parse(json);
    } catch {
      return this.#end({ failure: 'result', message: 'the result is not JSON' });
    }
    this.#end({ json });
  }

  #tooLarge(): void {
    const { resultBytes } = this.#assignment.limits;
    this.#end({ failure: 'result', message: `the result is larger than ${resultBytes} bytes` });
  }
}

function kindOf(answer: ScriptAnswer): readonly [kind: string, json: string] {
  if ('json' in answer) return ['json', answer.json];
  return 'text' in answer ? ['text', JSON.stringify(answer.text)] : [answer.name, JSON.stringify(answer.error)];
}

/** Parses a text from the script; invalid input becomes an empty text, which no tool has as a name. */
function textFrom(json: string): string {
  try {
    const said: unknown = JSON.parse(json);
    return typeof said === 'string' ? said : '';
  } catch {
    return '';
  }
}
