import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { beforeEach, describe, expect, it } from 'vitest';
import { lastLines, logEnds } from '../../../hosts/workloads/planning/last-lines.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let state: string;
const file = (name: string): string => join(workloadDir(state, 'one'), name);
const START = { output: 0, proxy: 0 };

beforeEach(async () => {
  state = temporaryFolder('lines');
  await mkdir(workloadDir(state, 'one'), { recursive: true });
});

describe('the lines below the message of a failed start', () => {
  it('are output of this start only', async () => {
    await writeFile(file(WORKLOAD_FILES.log), 'of an earlier start\n');
    const ends = await logEnds(state, 'one');
    expect(await lastLines(state, 'one', ends, 'failed')).toEqual([]);
    await appendFile(file(WORKLOAD_FILES.log), 'of this start\n');
    expect(await lastLines(state, 'one', ends, 'failed')).toEqual(['of this start']);
  });

  it('are told once when the server died in the same way at each start', async () => {
    const crash = 'Error: TOKEN is missing\n    at main (server.mjs:1:1)\n    at main (server.mjs:1:1)\n';
    const tries = [`npm installs\n${crash}`, crash, crash];
    await writeFile(file(WORKLOAD_FILES.log), tries.join(''));
    expect(await lastLines(state, 'one', START, 'failed')).toEqual(['npm installs', ...crash.trimEnd().split('\n')]);
    await writeFile(file(WORKLOAD_FILES.log), 'it died\nit died\nit died\n');
    expect(await lastLines(state, 'one', START, 'failed')).toEqual(['it died']);
    await writeFile(file(WORKLOAD_FILES.log), 'try 1\nfailed\ntry 2\nfailed\n');
    expect(await lastLines(state, 'one', START, 'failed')).toEqual(['try 1', 'failed', 'try 2', 'failed']);
  });

  it('are all of a log that was begun anew', async () => {
    await writeFile(file(WORKLOAD_FILES.log), 'new\n');
    expect(await lastLines(state, 'one', { output: 4_000, proxy: 0 }, 'failed')).toEqual(['new']);
  });

  it('are the causes in the log of the proxy when there is no output, each once and without the reason itself', async () => {
    const log = [
      { level: 'info', message: 'the proxy starts' },
      { level: 'warn', cause: 'connect ECONNREFUSED 127.0.0.1:1' },
      { level: 'warn', cause: 'no connection <- connect ECONNREFUSED 127.0.0.1:1' },
      { level: 'warn', cause: 'no connection <- connect ECONNREFUSED 127.0.0.1:1' },
      { level: 'error', reason: 'no connection' },
    ];
    await writeFile(file(WORKLOAD_FILES.proxyLog), `${log.map((one) => JSON.stringify(one)).join('\n')}\n`);
    expect(await lastLines(state, 'one', START, 'no connection')).toEqual([
      'no connection <- connect ECONNREFUSED 127.0.0.1:1',
    ]);
  });

  it('are those of a crash as they are', async () => {
    await writeFile(file(WORKLOAD_FILES.proxyLog), 'FATAL ERROR: out of memory\n{half a line\n');
    expect(await lastLines(state, 'one', START, 'its proxy ended')).toEqual([
      'FATAL ERROR: out of memory',
      '{half a line',
    ]);
  });
});
