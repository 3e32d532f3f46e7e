import type { ScriptAnswer } from '@toolmgr/core';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import { callArguments } from './call-arguments.ts';
import { GUEST } from './guest.ts';
import { type Instance, isFull } from './instance.ts';
import { jsonSize } from './json-size.ts';
import type { Assignment, ThreadOutcome } from './messages.ts';
import { cpuLimitMs, tooMuchNativeWork } from './native-steps.ts';

/** Steps between two polls of the engine (JS_INTERRUPT_COUNTER_INIT of QuickJS). */
export const STEPS_PER_POLL = 10_000;
const STACK_BYTES = 524_288; // of the engine; deep recursion ends as an error of the script while the thread has room
const JOBS_PER_TURN = 64; // microtasks between two looks at the clock
/** Arguments of calls that wait for one of the script's calls in flight; they lie outside the thread's heap. */
const MAX_WAITING_BYTES = 33_554_432;
const MAX_TOOL_NAME = 4_096; // characters; no tool has a longer name
const MAX_DEPTH = 200; // of a result; the gateway's own codec ends at 256
const MAX_LOG_LINES = 1_000;

/** What a script reaches outside: the gateway's side of the bridge. */
export interface Outside {
  call(call: number, tool: string, given: Uint8Array<ArrayBuffer>): void;
  log(line: string): void;
  /** Nothing can be computed before the next answer; `answered` of them have come. */
  waits(answered: number): void;
  /** What this thread has computed since it began, in microseconds. */
  cpuUs(): number;
  /** Once, and last. */
  end(outcome: ThreadOutcome): void;
  /** The gateway wants it to stop. */
  isStopped(): boolean;
}

/** Which limit a script broke: steps, time inside built-ins, time in all. */
type Broken = 'steps' | 'native' | 'time';

/** A script under way. */
export interface ScriptRun {
  answer(call: number, answer: ScriptAnswer): void;
  /** The gateway gave up on it; only matters while it waits. */
  stop(): void;
}

/**
 * Runs a script in an instance that is its own. Everything that the script says is a text or a number; nothing of the
 * host is within its reach, and what the engine throws at the host ends the script.
 */
export function runScript(instance: Instance, assignment: Assignment, outside: Outside): ScriptRun {
  return new Run(instance, assignment, outside);
}

class Run implements ScriptRun {
  readonly #instance: Instance;
  readonly #assignment: Assignment;
  readonly #outside: Outside;
  readonly #runtime: QuickJSRuntime;
  readonly #vm: QuickJSContext;
  readonly #deadline: number;
  readonly #cpuEndUs: number;
  #answer: QuickJSHandle | undefined;
  #polls = 0;
  #broken: Broken | undefined;
  #isEnded = false;
  #calls = 0;
  #answered = 0;
  #inFlight = 0;
  readonly #waiting: { readonly call: number; readonly tool: string; readonly given: Uint8Array<ArrayBuffer> }[] = [];
  #waitingBytes = 0;
  #logBytes = 0;
  #logLines = 0;

  constructor(instance: Instance, assignment: Assignment, outside: Outside) {
    this.#instance = instance;
    this.#assignment = assignment;
    this.#outside = outside;
    this.#deadline = performance.now() + assignment.limits.wallClockMs;
    this.#cpuEndUs = outside.cpuUs() + cpuLimitMs(assignment.limits.steps) * 1000;
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
      this.#turn();
    });
  }

  stop(): void {
    this.#end({ failure: 'time', message: 'stopped' });
  }

  /** The guest's half first, without a count; then the script, step by step. */
  #start(): void {
    const vm = this.#vm;
    const { script, functions, data, limits } = this.#assignment;
    const given = [
      vm.newFunction('send', (...said) => this.#heard(said)),
      vm.newString(JSON.stringify(functions)),
      vm.newString(data),
      vm.newNumber(limits.concurrency),
      vm.newNumber(limits.resultBytes),
    ];
    const guest = vm.unwrapResult(vm.evalCode(GUEST, 'gateway.js', { type: 'global' }));
    const face = vm.unwrapResult(vm.callFunction(guest, vm.undefined, ...given));
    this.#answer = vm.getProp(face, 'answer');
    this.#runtime.setInterruptHandler(() => this.#mustStop());
    // on one line with its wrapper, so that lines in errors are those of the script
    const body = vm.evalCode(`(async () => {${script}\n})`, 'script.js', { type: 'global' });
    if (body.error !== undefined) return this.#failed(body.error);
    this.#check(vm.callFunction(vm.getProp(face, 'start'), vm.undefined, body.value));
    this.#turn();
  }

  /** Runs what is ready. When nothing is and no call is out, nothing ever will be. */
  #turn(): void {
    while (!this.#isEnded && this.#runtime.hasPendingJob()) {
      this.#check(this.#runtime.executePendingJobs(JOBS_PER_TURN));
      if (performance.now() > this.#deadline) this.#broken ??= 'time';
      if (this.#outside.isStopped()) this.#broken ??= 'time';
      if (this.#outside.cpuUs() > this.#cpuEndUs) this.#broken ??= 'native';
      if (this.#broken !== undefined) this.#endBroken(this.#broken);
    }
    if (this.#broken !== undefined) this.#endBroken(this.#broken);
    if (this.#isEnded) return;
    if (this.#inFlight > 0) return this.#outside.waits(this.#answered);
    this.#end({ failure: 'stuck', message: 'the script waits for something that cannot come' });
  }

  #mustStop(): boolean {
    if (this.#broken !== undefined) return true;
    this.#polls++;
    if (this.#polls * STEPS_PER_POLL > this.#assignment.limits.steps) this.#broken = 'steps';
    else if (this.#outside.cpuUs() > this.#cpuEndUs) this.#broken = 'native';
    else if (performance.now() > this.#deadline || this.#outside.isStopped()) this.#broken = 'time';
    return this.#broken !== undefined;
  }

  /** An error that reaches the host was not to be caught inside: a broken limit, or an engine at its end. */
  #check(result: { readonly error?: QuickJSHandle | undefined }): void {
    if (result.error !== undefined) this.#failed(result.error);
  }

  #failed(error: QuickJSHandle): void {
    if (this.#broken !== undefined) return this.#endBroken(this.#broken);
    const vm = this.#vm;
    const member = (name: string): string => {
      const value = vm.getProp(error, name);
      return vm.typeof(value) === 'string' ? vm.getString(value) : '';
    };
    // only a script that could not be read gets here with an object: no getter of its own has run
    const isObject = vm.typeof(error) === 'object' && vm.typeof(vm.getProp(error, 'message')) === 'string';
    const line = isObject ? /script\.js:(\d+)/.exec(member('stack'))?.[1] : undefined;
    const said = isObject ? `${member('name')}: ${member('message')}` : 'the engine gave up';
    this.#endFailed('error', `${said}${line === undefined ? '' : ` (line ${line})`}`);
  }

  #endBroken(broken: Broken): void {
    const { steps, wallClockMs } = this.#assignment.limits;
    const { failure, message } = {
      steps: { failure: 'steps', message: `the script took more than ${steps} steps` },
      native: { failure: 'steps', message: tooMuchNativeWork(steps) },
      time: { failure: 'time', message: `the script took longer than ${wallClockMs} ms` },
    }[broken] as { readonly failure: 'steps' | 'time'; readonly message: string };
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
    this.#outside.end(outcome);
  }

  /** Whatever the engine throws at the host (a trap, a full stack, a full memory) ends this script and no other. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch {
      if (this.#broken !== undefined) this.#endBroken(this.#broken);
      else this.#endFailed('engine', 'the engine gave up');
    }
  }

  /** A word from inside. A text back refuses it. */
  #heard(said: readonly QuickJSHandle[]): QuickJSHandle {
    const [word, ...rest] = said.map((handle) => this.#read(handle));
    // inside an async function a broken limit is an error like others, so a script may go on: not with us
    if (this.#broken !== undefined) this.#endBroken(this.#broken);
    const refusal = this.#isEnded ? 'the script has ended' : this.#take(word, rest);
    return refusal === undefined ? this.#vm.undefined : this.#vm.newString(refusal);
  }

  #read(handle: QuickJSHandle): string | number | undefined {
    const kind = this.#vm.typeof(handle);
    if (kind === 'string') return this.#vm.getString(handle);
    return kind === 'number' ? this.#vm.getNumber(handle) : undefined;
  }

  #take(word: unknown, [first, second, third]: readonly (string | number | undefined)[]): string | undefined {
    if (word === 'call' && typeof first === 'number' && typeof second === 'string' && typeof third === 'string') {
      return this.#called(first, textFrom(second), third);
    }
    if (word === 'log' && typeof first === 'string') this.#logged(textFrom(first));
    else if (word === 'done' && typeof first === 'string') this.#done(first);
    else if (word === 'fail' && first === 'result') this.#tooLarge();
    else if (word === 'fail' && typeof second === 'string') this.#endFailed('error', textFrom(second));
    return undefined;
  }

  #called(call: number, tool: string, given: string): string | undefined {
    const { limits } = this.#assignment;
    if (this.#calls >= limits.calls) return `a script may make ${limits.calls} tool calls`;
    const checked = callArguments(given);
    if ('problem' in checked) return checked.problem;
    const { bytes } = checked;
    const waits = this.#inFlight >= limits.concurrency;
    if (waits && this.#waitingBytes + bytes.byteLength > MAX_WAITING_BYTES) {
      return `the arguments of the calls that wait are larger than ${MAX_WAITING_BYTES} bytes`;
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
    this.#outside.call(call, tool, given);
  }

  #logged(line: string): void {
    const { logBytes } = this.#assignment.limits;
    if (this.#logBytes > logBytes || this.#logLines >= MAX_LOG_LINES) return;
    this.#logBytes += Buffer.byteLength(line);
    this.#logLines++;
    const isOver = this.#logBytes > logBytes || this.#logLines >= MAX_LOG_LINES;
    this.#outside.log(isOver ? '(further logs were dropped)' : line);
  }

  #done(json: string): void {
    if (Buffer.byteLength(json) > this.#assignment.limits.resultBytes) return this.#tooLarge();
    if (jsonSize(json, { depth: MAX_DEPTH, members: Number.POSITIVE_INFINITY }).depth > MAX_DEPTH) {
      return this.#end({ failure: 'result', message: `the result is nested deeper than ${MAX_DEPTH}` });
    }
    try {
      JSON.parse(json);
    } catch {
      return this.#end({ failure: 'result', message: 'the result is no JSON' });
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

/** A text from inside; what is none is empty, and no tool has that name. */
function textFrom(json: string): string {
  try {
    const said: unknown = JSON.parse(json);
    return typeof said === 'string' ? said : '';
  } catch {
    return '';
  }
}
