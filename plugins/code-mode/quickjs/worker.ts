import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createInstance, type Instance } from './instance.ts';
import type { FromThread, ThreadData, ToThread } from './messages.ts';
import { runScript, type ScriptRun } from './run-script.ts';

// One thread: runs one script at a time, each in a fresh instance that was made while nobody waited for it.

const { engine, stop } = workerData as ThreadData;
const stopped = new Int32Array(stop);
const GIVES_WAY = 5; // niceness: requests of others come before scripts
const USUAL_MEMORY_BYTES = 67_108_864;

let next: Promise<Instance> | undefined;
let memoryBytes = USUAL_MEMORY_BYTES;
let running: { readonly id: number; readonly script: ScriptRun | undefined } | undefined;

giveWay();
next = createInstance(engine, memoryBytes);
await next;
parentPort?.on('message', (said: ToThread) => {
  if (said.say === 'run') void begin(said);
  else if (running?.id !== said.run) return;
  else if (said.say === 'answer') running.script?.answer(said.call, said.answer);
  else running.script?.stop();
});
tell({ say: 'ready', cpuUs: cpuUs() });

async function begin(said: Extract<ToThread, { say: 'run' }>): Promise<void> {
  const { run, limits } = said;
  const prepared = limits.memoryBytes === memoryBytes ? next : undefined;
  next = undefined;
  memoryBytes = limits.memoryBytes;
  running = { id: run, script: undefined };
  const instance = await (prepared ?? createInstance(engine, memoryBytes));
  const script = runScript(instance, said, {
    call: (call, tool, given) => tell({ say: 'call', run, call, tool, given }, [given.buffer]),
    log: (line) => tell({ say: 'log', run, line }),
    waits: (answered) => tell({ say: 'waits', run, answered, cpuUs: cpuUs() }),
    cpuUs,
    isStopped: () => Atomics.load(stopped, 0) !== 0,
    end(outcome) {
      running = undefined;
      tell({ say: 'done', run, cpuUs: cpuUs(), ...outcome });
      next = createInstance(engine, memoryBytes);
    },
  });
  if (running?.id === run) running = { id: run, script };
}

function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** `moved` leaves this thread: the gateway gets it without a copy. */
function tell(said: FromThread, moved: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(said, moved);
}

/** Only Linux has a niceness per thread; elsewhere this would slow the gateway itself. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, GIVES_WAY);
  } catch {
    // a system that forbids it shares its processors evenly
  }
}
