import { readWorkload, type WorkloadStatus } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningCli, startCli } from '../../../support/cli.ts';
import {
  type ContainerEngine,
  engineCall,
  engineMissing,
  importServerImage,
  SERVER_IMAGE,
  startEngine,
} from '../../../support/container-engine.ts';
import { ownFolders } from '../../../support/manager.ts';
import { processes } from '../../../support/processes.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const LONG = 240_000;
const AGAIN_MS = 60_000;
const missing = engineMissing('docker');

describe.skipIf(missing !== undefined)(`the supervisor with a container engine ${missing ?? ''}`, () => {
  let engine: ContainerEngine;
  const home = temporaryFolderOfFile('supervised');
  let state: string;
  let manager: RunningCli;

  beforeAll(async () => {
    state = ownFolders(home).TOOLMGR_STATE_DIR ?? '';
    engine = await startEngine('docker');
    await importServerImage(engine);
    manager = cli('serve', '--port', '0');
    await manager.printed(/serves http/);
  }, LONG);
  afterAll(async () => {
    await manager[Symbol.asyncDispose]();
    await cli('rm', '--all', '--force').finished;
    await engine[Symbol.asyncDispose]();
  }, LONG);

  const cli = (...args: string[]): RunningCli =>
    startCli(args, {
      env: { ...ownFolders(home), DOCKER_HOST: `unix://${engine.socket}`, TOOLMGR_RUNTIME: undefined },
      cwd: '/',
    });
  const statusOf = async (): Promise<WorkloadStatus> => {
    const record = await readWorkload(state, 'web');
    if (record === undefined) throw new Error('there is no web');
    return record.status;
  };
  const kill = async (pid: number | undefined): Promise<void> => {
    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => processes().every((row) => row.pid !== pid));
  };
  const containers = async (): Promise<number> =>
    JSON.parse((await engineCall(engine.socket, 'GET', '/v1.41/containers/json')).text).length;
  const runsAgain = async (before: WorkloadStatus): Promise<WorkloadStatus> => {
    await until(async () => {
      const { status, proxy } = await statusOf();
      return status === 'running' && proxy?.pid !== before.proxy?.pid;
    }, AGAIN_MS);
    const now = await statusOf();
    expect(now).toMatchObject({ port: before.port, url: before.url });
    await until(async () => (await containers()) === 1, AGAIN_MS);
    return now;
  };

  it(
    'starts a container again after its proxy, its engine or everything was killed, at the same port and once',
    async () => {
      const args = ['--isolate-network=false', '--target-port', '3001', SERVER_IMAGE, '--', 'streamableHttp'];
      const ran = await cli('run', '--name', 'web', ...args).finished;
      expect(ran, ran.err).toMatchObject({ code: 0 });
      let before = await statusOf();

      await kill(before.proxy?.pid);
      before = await runsAgain(before);

      // the engine is away: the workload waits for it, however often it was tried
      await engine.kill();
      await kill(before.proxy?.pid);
      await until(async () => (await statusOf()).message?.includes('no container engine answers') === true, AGAIN_MS);
      await engine.restart();
      const sinceMs = performance.now();
      before = await runsAgain(before);
      expect(performance.now() - sinceMs).toBeLessThan(AGAIN_MS); // 10 s on a quiet machine

      // its proxy starts the container again
      expect((await engineCall(engine.socket, 'POST', '/v1.41/containers/web/kill')).status).toBe(204);
      await until(async () => (await statusOf()).restarts === 1 && (await statusOf()).status === 'running', AGAIN_MS);
      expect(await statusOf()).toMatchObject({ proxy: before.proxy, port: before.port });

      // removed by the user
      await engineCall(engine.socket, 'DELETE', '/v1.41/containers/web?force=true');
      await until(async () => (await statusOf()).status === 'stopped', AGAIN_MS);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      expect(await statusOf()).toMatchObject({ status: 'stopped', desired: 'stopped' });
    },
    LONG,
  );
});
