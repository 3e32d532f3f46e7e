import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { beforeEach, expect } from 'vitest';
import { connectEngine } from '../../../../plugins/workloads/container/engine.ts';
import { createContainerRuntime } from '../../../../plugins/workloads/container/start.ts';
import { engineCall, SERVER_IMAGE } from '../../../support/container-engine.ts';
import { LONG, onEngines } from '../../../support/on-engines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const RESTART = { firstDelayMs: 50, maxDelayMs: 1_000, resetAfterMs: 30_000, maxRestarts: 10 };
const SETTINGS = { firstStartTimeoutMs: 60_000, startTimeoutMs: 60_000, restart: RESTART };
/** Prints the files of the mount, and ends with its stdin; over HTTP it answers with them. */
const PROGRAM = join(import.meta.dirname, 'mounted-files.mjs');

onEngines('hidden files on', (on) => {
  const { runs } = on;
  let folder: string;

  beforeEach(async () => {
    folder = temporaryFolder('hidden');
    await mkdir(join(folder, 'data/a'), { recursive: true });
    await writeFile(join(folder, 'data/.toolmgrignore'), '.env\n');
    for (const file of ['a/.env', 'a/seen']) await writeFile(join(folder, 'data', file), 'content');
  });

  const runtimeOf = () => {
    const env = { ...on.env, TOOLMGR_STATE_DIR: join(folder, 'state') };
    return createContainerRuntime(() => connectEngine(env), SETTINGS);
  };
  const spec = (transport: 'stdio' | 'streamable-http'): WorkloadSpec => ({
    ...{ name: `files-${transport}`, group: 'default', transport, env: {}, targetPort: 3001 },
    container: {
      ...{ image: SERVER_IMAGE, args: [] },
      mounts: [
        { source: PROGRAM, target: '/app/server.mjs', readOnly: true },
        { source: join(folder, 'data'), target: '/in', readOnly: false },
      ],
    },
  });
  const onHost = async (): Promise<readonly string[]> =>
    (await readdir(join(folder, 'data'), { recursive: true })).sort();

  runs(
    'are found for each container of a session anew, and nothing is created in the folder',
    async () => {
      const { runtime, launcher } = runtimeOf();
      const handle = await runtime.start(spec('stdio'), AbortSignal.timeout(LONG));
      const session = async (): Promise<Record<string, string>> => {
        const child = launcher({ file: 'files-stdio', args: [], launcher: 'container' });
        let text = '';
        child.stdout?.on('data', (chunk: Buffer) => {
          text += chunk;
        });
        child.stdin?.end();
        await new Promise((resolve) => child.once('close', resolve));
        return JSON.parse(text);
      };
      expect(await session()).toMatchObject({ 'a/.env': '', 'a/seen': 'content' });
      await rename(join(folder, 'data/a'), join(folder, 'data/b'));
      await writeFile(join(folder, 'data/.env'), 'new');
      expect(await session()).toEqual({
        '.env': '',
        '.toolmgrignore': '.env\n',
        'b/.env': '',
        'b/seen': 'content',
      });
      expect(await onHost()).toEqual(['.env', '.toolmgrignore', 'b', 'b/.env', 'b/seen']);
      await handle.stop(1_000);
    },
    LONG,
  );

  runs(
    'are found anew when the container of a server over HTTP is started again',
    async () => {
      const { runtime } = runtimeOf();
      const handle = await runtime.start(spec('streamable-http'), AbortSignal.timeout(LONG));
      const { url = '' } = handle.reach;
      const files = async () => (await fetch(url)).json();
      expect(await files()).toMatchObject({ 'a/.env': '', 'a/seen': 'content' });
      await rename(join(folder, 'data/a'), join(folder, 'data/b'));
      await engineCall(on.engine.socket, 'POST', '/v1.41/containers/files-streamable-http/kill');
      await until(async () => handle.state.restarts === 1 && handle.state.status === 'running', LONG);
      expect(handle.reach.url).toBe(url);
      expect(await files()).toMatchObject({ 'b/.env': '', 'b/seen': 'content' });
      expect(await onHost()).toEqual(['.toolmgrignore', 'b', 'b/.env', 'b/seen']);
      await handle.stop(1_000);
    },
    LONG,
  );
});
