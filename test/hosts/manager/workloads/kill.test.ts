import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createRecord, readGroup, readWorkload, readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { beforeEach, describe, expect, it } from 'vitest';
import { recoverReplacement } from '../../../../hosts/workloads/planning/replace.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { configOf } from './changes.ts';

const SCRIPT = join(import.meta.dirname, 'interrupted-change.ts');
const LONG = 120_000;

let state: string;

beforeEach(async () => {
  state = temporaryFolder('crash');
  await createRecord(state, configOf('old', 'first'));
});

/** Runs a change in a process that kills itself at a write. `full`: files may have 1 KB. */
async function run(
  change: string,
  at: number,
  full = false,
): Promise<{ readonly killed: boolean; readonly out: string }> {
  const node = [process.execPath, '--conditions=development', SCRIPT, state, change, String(at)];
  const limited = ['/bin/bash', '-c', `ulimit -f 1; exec "$@"`, 'limited', ...node];
  const [file = '', ...args] = full ? limited : node;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const [, signal] = await once(child, 'close');
  return { killed: signal === 'SIGKILL', out };
}

const levelOf = async (name: string) => (await readWorkload(state, name))?.config?.env_vars.LEVEL;

describe('a process that is killed at a write', () => {
  it.each([
    ['create', async () => [undefined, 'first'].includes(await levelOf('new'))],
    ['edit', async () => ['first', 'second'].includes((await levelOf('old')) ?? '')],
    ['edit that fails', async () => ['first', 'second'].includes((await levelOf('old')) ?? '')],
    ['delete', async () => [undefined, 'first'].includes(await levelOf('old'))],
    ['group', async () => [undefined, 0, 1].includes((await readGroup(state, 'team'))?.skills.length)],
  ])(
    'leaves the state of %s whole: as before, or as after',
    async (change, isWhole) => {
      let kills = 0;
      for (let at = 1; at < 40; at++) {
        const { killed } = await run(change, at);
        if (!killed) break;
        kills++;
        expect(await isWhole(), `write ${at}`).toBe(true);
        for (const { config } of await readWorkloads(state)) expect(config, `write ${at}`).toBeDefined();
        // an edit that was not confirmed is taken back, because its workload does not run
        await recoverReplacement(state, 'old');
        if (change.startsWith('edit') && at < 3) expect(await levelOf('old')).toBe('first');
        await rm(state, { recursive: true, force: true });
        await createRecord(state, configOf('old', 'first'));
      }
      expect(kills).toBeGreaterThan(1);
    },
    LONG,
  );
});

describe('a full disk', () => {
  it(
    'leaves what there was, and the change says so',
    async () => {
      for (const change of ['create', 'edit']) {
        expect((await run(change, 0, true)).out).toMatch(/EFBIG|ENOSPC/);
        expect(await levelOf('old')).toBe('first');
        expect((await readWorkloads(state)).map(({ name }) => name)).toEqual(['old']);
      }
    },
    LONG,
  );
});
