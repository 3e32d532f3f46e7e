import { createServer } from 'node:net';
import { changeStatus, createRecord } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenForWorkload } from '../../../../hosts/workloads/proxy/ports.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { configOf } from './changes.ts';
import { createSmall, LONG, removeAll } from './small.ts';

let manager: StartedManager;

beforeAll(async () => {
  manager = await startManager();
}, LONG);

afterAll(async () => {
  await removeAll(manager.state);
  await manager.stop();
}, LONG);

describe('under load', () => {
  it(
    'thousands of lists do not block a start',
    async () => {
      let isOver = false;
      let lists = 0;
      const listing = async () => {
        while (!isOver || lists < 2_000) {
          const answer = await manager.request('GET', '/api/v1beta/workloads?all=true');
          if (answer.status !== 200) throw new Error(answer.text);
          lists++;
        }
      };
      const readers = Array.from({ length: 16 }, listing);
      const startMs = performance.now();
      await createSmall(manager, 'busy');
      const tookMs = performance.now() - startMs;
      isOver = true;
      await Promise.all(readers);
      console.info(`a start took ${Math.round(tookMs)} ms beside ${lists} lists`);
      expect(tookMs).toBeLessThan(60_000);
    },
    LONG,
  );

  it(
    'starts at the same time of one name make one workload',
    async () => {
      const made = await Promise.all(
        Array.from({ length: 8 }, () => createSmall(manager, 'twin').catch((cause: Error) => cause.message)),
      );
      const ports = new Set(made.filter((each) => typeof each === 'number'));
      expect(ports.size).toBe(1);
      const refused = made.filter((each) => typeof each !== 'number');
      for (const text of refused) expect(text).toContain('there is a workload twin already');
    },
    LONG,
  );
});

describe('the ports of 100 workloads that start at the same time', () => {
  it(
    'are all different, and none is that of a stopped workload',
    async () => {
      const state = temporaryFolder('ports');
      const names = Array.from({ length: 100 }, (_, n) => `w${n}`);
      // a stopped workload remembers each port that the system would give next
      const probe = createServer();
      await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', () => resolve()));
      const { port: near } = probe.address() as { port: number };
      probe.close();
      const kept = new Set(Array.from({ length: 40 }, (_, n) => near + n));
      await Promise.all(
        [...kept].map(async (port) => {
          await createRecord(state, configOf(`s${port}`, 'x'));
          await changeStatus(state, `s${port}`, () => ({ status: 'stopped', port }));
        }),
      );
      for (const name of names) await createRecord(state, configOf(name, 'x'));
      const gateway = { handle: () => {} } as never;
      const startMs = performance.now();
      const served = await Promise.all(
        names.map((name) =>
          listenForWorkload({
            gateway,
            state,
            name,
            host: '127.0.0.1',
            requested: undefined,
            remembered: undefined,
            routes: [],
          }),
        ),
      );
      console.info(`100 ports took ${Math.round(performance.now() - startMs)} ms`);
      const ports = served.map(({ port }) => port);
      expect(new Set(ports).size).toBe(100);
      for (const port of ports) expect(kept).not.toContain(port);
      await Promise.all(served.map((each) => each.close(0)));
    },
    LONG,
  );
});
