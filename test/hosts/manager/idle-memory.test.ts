import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRecord } from '@toolmgr/plugins/kit/workloads';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { workloadConfigOf } from '../../support/workload-config.ts';

/** The compiled program, as a package has it: reading TypeScript takes memory of its own. */
const CLI = join(import.meta.dirname, '../../../hosts/dist/cli/main.js');
const WORKLOADS = 50;
const MAX_KB = 110 * 1024;
const WINDOW_MS = 7_000;
const WINDOWS = 8;

test.skipIf(!existsSync('/proc/self/status'))(
  'an idle manager with 50 recorded workloads stays under 110 MB, and reads none of them again',
  async () => {
    const home = temporaryFolder('idle');
    const state = join(home, 'state');
    for (let n = 0; n < WORKLOADS; n++) await createRecord(state, workloadConfigOf(`server-${n}`));
    const env = { PATH: process.env.PATH, HOME: home, TOOLMGR_STATE_DIR: state, NO_COLOR: '1' };
    const child = spawn(process.execPath, [CLI, 'serve', '--port', '0'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (bytes) => {
      said += bytes;
    });
    try {
      await until(() => said.includes('the workload manager serves'), 60_000);
      const proc = (name: string): Promise<string> => readFile(`/proc/${child.pid}/${name}`, 'utf8');
      const readCalls = async (): Promise<number> => Number(/^syscr: (\d+)$/m.exec(await proc('io'))?.[1]);
      let reads = Number.POSITIVE_INFINITY;
      // on a busy machine a start takes longer; a manager that reads again and again never has such a window
      for (let window = 0; window < WINDOWS && reads >= 2 * WORKLOADS; window++) {
        const before = await readCalls();
        await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
        reads = (await readCalls()) - before;
      }
      const rss = Number(/^VmRSS:\s+(\d+) kB$/m.exec(await proc('status'))?.[1]);
      expect(rss).toBeLessThan(MAX_KB);
      expect(reads).toBeLessThan(2 * WORKLOADS); // one pass over the records reads two files of each
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  },
);
