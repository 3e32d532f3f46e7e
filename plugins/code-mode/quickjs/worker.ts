import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createInstance, type Instance } from './engine-instance.ts';
import { runScript, type ScriptRun } from './run-script.ts';
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts';

// Thread entry: runs one script at a time, each in a fresh instance that was created in advance.

const { engine, stop } = workerData as ThreadData;
const stopped = new Int32Array(stop);
const NICENESS = 5; // lower priority than the gateway's thread
const USUAL_MEMORY_BYTES = 67_108_864;

let next: Promise<Instance> | undefined;
let memoryBytes = USUAL_MEMORY_BYTES;
let running: { readonly id: number; readonly script: ScriptRun | undefined } | undefined;

lowerPriority();
next = createInstance(engine, memoryBytes);
await next;
parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'run') void begin(message);
  else if (running?.id !== message.run) return;
  else if (message.type === 'answer') running.script?.answer(message.call, message.answer);
  else running.script?.stop();
});
post({ type: 'ready', cpuUs: cpuUs() });

async function begin(message: Extract<ToThread, { type: 'run' }>): Promise<void> {
  const { run, limits } = message;
  const prepared = limits.memoryBytes === memoryBytes ? next : undefined;
  next = undefined;
  memoryBytes = limits.memoryBytes;
  running = { id: run, script: undefined };
  const instance = await (prepared ?? createInstance(engine, memoryBytes));
  const script = runScript(instance, message, {
    call: (call, tool, given) => post({ type: 'call', run, call, tool, given }, [given.buffer]),
    log: (line) => post({ type: 'log', run, line }),
    waits: (answered) => post({ type: 'waits', run, answered, cpuUs: cpuUs() }),
    cpuUs,
    isStopped: () => Atomics.load(stopped, 0) !== 0,
    end(outcome) {
      running = undefined;
      post({ type: 'done', run, cpuUs: cpuUs(), ...outcome });
      next = createInstance(engine, memoryBytes);
    },
  });
  if (running?.id === run) running = { id: run, script };
}

function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** `moved` buffers are transferred without a copy. */
function post(message: FromThread, moved: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved);
}

/** Only Linux has a niceness per thread; elsewhere this would slow the gateway itself. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, NICENESS);
  } catch {
    // not permitted: scripts keep the normal priority
  }
}
