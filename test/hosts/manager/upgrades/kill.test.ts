import { join } from 'node:path';
import { readWorkload, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isReplaced } from '../../../../plugins/kit/workloads/state/replace-config.ts';
import { type RunningCli, startCli } from '../../../support/cli.ts';
import { ownFolders } from '../../../support/manager.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const LONG = 180_000;
const TELLS = join(import.meta.dirname, '../../run/servers/tells.mjs');
const REPLACES = join(import.meta.dirname, 'replace-once.ts');

const home = temporaryFolderOfFile('replace');
let state: string;
let manager: RunningCli;

beforeAll(async () => {
  state = ownFolders(home).TOOLMGR_STATE_DIR ?? '';
  manager = startCli(['serve', '--port', '0'], { env: ownFolders(home), cwd: '/' });
  await manager.printed(/serves http/);
}, LONG);

afterAll(async () => {
  await manager[Symbol.asyncDispose]();
  await startCli(['rm', '--all', '--force'], { env: ownFolders(home), cwd: '/' }).finished;
}, LONG);

const recordOf = async (): Promise<WorkloadRecord> => {
  const record = await readWorkload(state, 'one');
  if (record === undefined) throw new Error('there is no one');
  return record;
};

describe('a replacement whose process is killed', () => {
  it(
    'leaves a workload that runs, with the old or the new configuration, at every step',
    async () => {
      const run = ['run', '--name', 'one', '--', process.execPath, TELLS, 'old'];
      const ran = await startCli(run, { env: ownFolders(home), cwd: '/' }).finished;
      expect(ran, ran.err).toMatchObject({ code: 0 });
      const { port } = (await recordOf()).status;
      const steps: readonly (readonly [string, () => Promise<boolean>])[] = [
        ['stopping', async () => (await recordOf()).status.status !== 'running'],
        ['stopped', async () => (await recordOf()).status.status === 'stopped'],
        ['written', () => isReplaced(state, 'one')],
        ['starting', async () => (await isReplaced(state, 'one')) && (await recordOf()).status.status === 'starting'],
        ['claimed', async () => (await isReplaced(state, 'one')) && (await recordOf()).alive],
      ];
      for (const [step, isReached] of steps) {
        const replacing = startCli(['one', step], { env: ownFolders(home), script: REPLACES });
        let isOver = false;
        void replacing.finished.then(() => {
          isOver = true;
        });
        await until(async () => isOver || (await isReached()), 30_000);
        replacing.signal('SIGKILL');
        await replacing.finished;
        await until(async () => {
          const { alive, status } = await recordOf();
          return alive && status.status === 'running' && !(await isReplaced(state, 'one'));
        }, 60_000).catch(async () => {
          throw new Error(`${step}: ${JSON.stringify((await recordOf()).status)}`);
        });
        const { config, status } = await recordOf();
        expect(status.port).toBe(port);
        expect(['old', ...steps.map(([name]) => name)]).toContain(config?.cmd_args.at(-1));
      }
    },
    LONG,
  );
});
