import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readWorkload, readWorkloads, workloadsDir } from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processesWith } from '../../support/processes.ts';
import { PROXY_PROGRAM } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { toolmgr, toolmgrSession } from './toolmgr.ts';

const TELLS = [process.execPath, '--', join(import.meta.dirname, 'servers/tells.mjs')];
const LONG = 180_000;

/** Commands that begin with these pauses in between, in milliseconds. */
const CASES = [
  { exists: false, commands: ['run', 'run', 'rm'], pauses: [0, 700] },
  { exists: true, commands: ['stop', 'start'], pauses: [50] },
  { exists: true, commands: ['rm', 'start'], pauses: [0] },
  { exists: true, commands: ['restart', 'restart'], pauses: [100] },
  { exists: true, commands: ['rm', 'rm', 'run'], pauses: [20, 300] },
] as const;

const session = toolmgrSession();
let state: string;

beforeEach(() => {
  state = temporaryFolder('once');
});

afterEach(async () => {
  if ((await readWorkloads(state)).length > 0) await session(state, ['rm', '--force', '--all']);
}, LONG);

/** No other run of these tests has it. */
const ONE = `one-${process.pid}`;

describe('two commands at once on one name', () => {
  it.each(CASES)(
    '$commands leave a workload that runs or none, and a reason for each failure',
    async ({ exists, commands, pauses }) => {
      const args = { run: ['run', '--name', ONE, ...TELLS], rm: ['rm', '--force', ONE] } as const;
      if (exists) expect((await session(state, args.run)).code).toBe(0);
      const running = [];
      for (const [at, command] of commands.entries()) {
        running.push(toolmgr(state, ...(command === 'run' || command === 'rm' ? args[command] : [command, ONE])));
        await delay(pauses[at] ?? 0);
      }
      for (const { code, err } of await Promise.all(running)) {
        if (code !== 0) expect(err).toMatch(/^(toolmgr: |one-\d+ )/m);
        expect(err).not.toMatch(/^ +at /m);
      }
      const proxies = () =>
        processesWith(`toolmgr proxy ${ONE}`).length + processesWith(`${PROXY_PROGRAM} ${ONE}`).length;
      const record = await readWorkload(state, ONE);
      const shown = record?.status.status ?? 'gone';
      expect(['running', 'stopped', 'gone']).toContain(shown);
      await until(() => proxies() === (shown === 'running' ? 1 : 0));
      const left = await readdir(workloadsDir(state));
      expect(left.filter((entry) => entry !== '.changed' && entry !== ONE)).toEqual([]);
      // the state is good for the next command
      expect((await session(state, ['list', '--all'])).code).toBe(0);
    },
    LONG,
  );
});
