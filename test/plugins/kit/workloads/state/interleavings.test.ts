import { type Transition, transitions, type WorkloadRecord, type WorkloadStatus } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { correctedStatus, settledRecord } from '../../../../../plugins/kit/workloads/state/workload-record.ts';
import fc from '../../../../support/fast-check.ts';
import { workloadConfigOf } from '../../../../support/workload-config.ts';

type Command = 'run' | 'start' | 'stop' | 'restart' | 'rm';
/** An actor does one step, each under the lock of the workload, between two `yield`s. */
type Actor = Generator<void, void, void>;

/** A workload, the processes of commands and proxies, and no time: the order of steps is given from outside. */
class World {
  /** Written status; `undefined` when there is no workload. */
  written: WorkloadStatus | undefined;
  readonly alive = new Set<number>();
  readonly signalled = new Set<number>();
  readonly actors: Actor[] = [];
  /** How many starts were requested, in all and before the last stop was. */
  starts = 0;
  startsBeforeStop: number | undefined;
  #pids = 0;
  #ids = 0;

  read(): WorkloadRecord | undefined {
    if (this.written === undefined) return undefined;
    const { proxy, by } = this.written;
    const alive = proxy !== undefined && this.alive.has(proxy.pid);
    const status = correctedStatus(this.written, alive, by !== undefined && this.alive.has(by.pid));
    return { name: 'one', config: workloadConfigOf('one'), status, alive };
  }

  /** Like `changeStatus`. Returns what the transition said. */
  change(move: (now: WorkloadRecord) => Transition): Transition | 'gone' {
    const now = this.read();
    if (now === undefined) return 'gone';
    const said = move(now);
    if (said === undefined || 'refused' in said) return said;
    const { id = '', generation = 0 } = now.status;
    this.written = { id, generation, ...said.change, format: 1, updatedAtMs: 0 };
    return said;
  }

  add(make: (pid: number) => Actor): void {
    const pid = ++this.#pids;
    this.alive.add(pid);
    const actor = make(pid);
    this.actors.push(
      (function* ended(world: World): Actor {
        yield* actor;
        world.alive.delete(pid);
      })(this),
    );
  }

  command(name: Command): void {
    this.add((pid) => this.#does(name, { pid, started: 'x' }));
  }

  *#does(name: Command, me: { pid: number; started: string }): Actor {
    if (name === 'run') {
      if (this.written !== undefined) return;
      const id = ++this.#ids;
      const generation = id * 1000; // it is a time in files: no earlier workload came so far
      this.written = { format: 1, status: 'stopped', id: String(id), generation, updatedAtMs: 0 };
      yield;
    }
    if (name === 'stop' || name === 'restart' || name === 'rm') yield* this.#stop();
    if (name === 'run' || name === 'start' || name === 'restart') yield* this.#start(me);
    if (name === 'rm') yield* this.#remove(me);
  }

  *#start(me: { pid: number; started: string }): Actor {
    const said = this.change((now) => transitions.requestStart(now, me));
    if (said === undefined || said === 'gone' || 'refused' in said) return;
    const { generation } = said.change;
    this.starts++;
    yield;
    this.add((pid) => this.#proxy(pid, generation));
    // the command waits until its start has an outcome
    while (this.written?.status === 'starting' && this.written.generation === generation) yield;
  }

  *#proxy(pid: number, generation: number | undefined): Actor {
    yield;
    const runId = `run-${pid}`;
    const proxy = { pid, started: 'x' };
    const said = this.change((now) => transitions.claimStart(now, { proxy, runId, generation, nowMs: 0 }));
    if (said === undefined || said === 'gone' || 'refused' in said) return;
    yield;
    const isMine = (now: WorkloadRecord) => now.status.runId === runId;
    this.change((now) =>
      isMine(now) && now.status.generation === said.change.generation
        ? { change: { status: 'running', proxy, runId } }
        : undefined,
    );
    while (!this.signalled.has(pid)) yield;
    this.change((now) => (isMine(now) ? { change: { status: 'stopped' } } : undefined));
  }

  *#stop(): Actor {
    this.change((now) => transitions.requestStop(now));
    this.startsBeforeStop = this.starts;
    const record = this.read();
    if (record === undefined) return;
    const { proxy, runId } = record.status;
    yield;
    if (record.alive && proxy !== undefined) {
      this.signalled.add(proxy.pid);
      while (this.alive.has(proxy.pid)) yield;
    }
    this.change((now) => transitions.finishStop(now, runId, record.alive));
    yield;
  }

  *#remove(me: { pid: number; started: string }): Actor {
    for (;;) {
      const said = this.change((now) => transitions.requestRemoval(now, me));
      if (said === 'gone') return;
      if (said !== undefined && 'change' in said) break;
      yield* this.#stop();
    }
    yield;
    if (this.read()?.alive === false) this.written = undefined;
  }

  /** Proxies that have the workload. */
  proxies(): readonly number[] {
    const pid = this.written?.proxy?.pid;
    return pid !== undefined && this.alive.has(pid) ? [pid] : [];
  }
}

const COMMANDS = ['run', 'start', 'stop', 'restart', 'rm'] as const;

describe('commands at once on one workload', () => {
  it('end in a state that a user can explain, in any order of their steps', () => {
    const scenario = fc.record({
      exists: fc.boolean(),
      commands: fc.array(fc.constantFrom(...COMMANDS), { minLength: 2, maxLength: 4 }),
      order: fc.array(fc.nat(9), { minLength: 40, maxLength: 120 }),
    });
    fc.assert(
      fc.property(scenario, ({ exists, commands, order }) => {
        const world = new World();
        const endsIn = (steps: Iterable<number>): void => {
          for (const pick of steps) {
            const at = pick % Math.max(1, world.actors.length);
            const actor = world.actors[at];
            if (actor?.next().done) world.actors.splice(at, 1);
          }
        };
        if (exists) {
          world.command('run');
          endsIn(Array.from({ length: 40 }, (_, at) => at));
        }
        for (const command of commands) world.command(command);
        endsIn(order);
        endsIn(Array.from({ length: 400 }, (_, at) => at)); // in turns, until nothing changes any more
        const record = world.read();
        const status = record?.status.status ?? 'gone';
        expect(['gone', 'running', 'stopped']).toContain(status);
        // a stop ends every start that was requested before it, also one without a proxy
        if (world.starts === world.startsBeforeStop) expect(status).not.toBe('running');
        // every process that is left is the proxy of the record
        expect(world.actors).toHaveLength(status === 'running' ? 1 : 0);
        expect(world.proxies()).toHaveLength(status === 'running' ? 1 : 0);
      }),
      {
        numRuns: 3_000,
        // the proxy of a removed workload meets another workload of its name
        examples: [
          [
            {
              exists: false,
              commands: ['run', 'run', 'rm', 'stop'],
              order: [0, 0, 2, 2, 0, 3, 5, 5, 0, 1, 2, ...Array<number>(29).fill(0)],
            },
          ],
        ],
      },
    );
  });
});

describe('a reader of a workload whose proxy ends meanwhile', () => {
  it('tells what the proxy wrote between the two looks, not that it ended while starting', async () => {
    const config = { value: workloadConfigOf('one') };
    const starting = { format: 1, status: 'starting', updatedAtMs: 0, proxy: { pid: 7, started: 'x' } } as const;
    const failed = { ...starting, status: 'error', message: 'it ended with exit code 4' } as const;
    const files = [starting, failed].map((value) => ({ config, status: { value } }));
    const record = await settledRecord(
      'one',
      async () => files.shift(),
      async () => false,
    );
    expect(record?.status).toMatchObject({ status: 'error', message: 'it ended with exit code 4' });
  });
});
