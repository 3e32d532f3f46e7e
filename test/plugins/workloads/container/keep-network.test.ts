import type { WorkloadHandle, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { expect } from 'vitest';

import { connectEngine } from '../../../../plugins/workloads/container/engine.ts';
import { createContainerRuntime } from '../../../../plugins/workloads/container/start.ts';
import { engineCall, SERVER_IMAGE } from '../../../support/container-engine.ts';
import { LONG, onEngines } from '../../../support/on-engines.ts';
import { until } from '../../../support/until.ts';

const RESTART = { firstDelayMs: 100, maxDelayMs: 1_000, resetAfterMs: 30_000, maxRestarts: 10 };
const SETTINGS = { firstStartTimeoutMs: 60_000, startTimeoutMs: 60_000, restart: RESTART };

const spec = (name: string, transport: 'stdio' | 'streamable-http'): WorkloadSpec => ({
  ...{ name, group: 'default', runtime: 'container', transport, env: {}, targetPort: 3001 },
  container: {
    ...{ image: SERVER_IMAGE, args: [transport === 'stdio' ? 'stdio' : 'streamableHttp'] },
    isolation: { outbound: { insecure_allow_all: false, allow_host: [], allow_port: [] }, allowGateway: false },
  },
});

onEngines('an isolated workload whose network sidecar ends, on', (on) => {
  const { runs } = on;

  const runtimeOf = () => {
    const env = on.env;
    return createContainerRuntime(() => connectEngine(env), SETTINGS);
  };
  const containers = async (): Promise<readonly { Id: string; Names: string[]; Labels: Record<string, string> }[]> =>
    JSON.parse((await engineCall(on.engine.socket, 'GET', '/v1.41/containers/json?all=true')).text);
  const killSidecar = async (): Promise<void> => {
    const sidecar = (await containers()).find(({ Labels }) => Labels['dev.toolmgr.role'] === 'network');
    await engineCall(on.engine.socket, 'POST', `/v1.41/containers/${sidecar?.Id}/kill`);
  };
  const isBack = (handle: WorkloadHandle) => async () => handle.state.status === 'running' && handle.state.restarts > 0;

  runs(
    'is started again at the same address, keeps nothing of the first start, and is stopped while it waits for its next one',
    async () => {
      const { runtime } = runtimeOf();
      const handle = await runtime.start(spec('web', 'streamable-http'), new AbortController().signal);
      const { url = '' } = handle.reach;
      const before = (await containers()).map(({ Id }) => Id);
      await killSidecar();
      await until(async () => handle.state.status !== 'running', LONG);
      expect(handle.state.message).toMatch(/network sidecar ended|does not answer/);
      await until(isBack(handle), LONG);
      expect(handle.reach.url).toBe(url);
      expect((await fetch(url)).status).toBe(400); // the server answers: a GET without a session
      const after = (await containers()).map(({ Id }) => Id);
      expect(after).toHaveLength(2);
      expect(after.filter((id) => before.includes(id))).toEqual([]);
      await killSidecar();
      await until(async () => handle.state.status !== 'running', LONG);
      await handle.stop(1_000);
      expect((await handle.ended).status).toBe('stopped');
      expect(await containers()).toEqual([]);
    },
    LONG,
  );

  runs(
    'serves stdio sessions again, also after the engine was killed and started again',
    async () => {
      const { runtime, launcher } = runtimeOf();
      const handle = await runtime.start(spec('s', 'stdio'), new AbortController().signal);
      await on.engine.restart();
      await until(isBack(handle), LONG);
      const session = launcher({ file: 's', args: [], launcher: 'container' });
      let output = '';
      session.stdout?.on('data', (chunk: Buffer) => {
        output += chunk;
      });
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
      session.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
      await until(async () => output.includes('"serverInfo"'), LONG);
      // engines refuse names of one character
      expect((await containers()).map(({ Names }) => Names[0])).toContain('/toolmgr-s');
      await handle.stop(1_000);
      expect((await handle.ended).status).toBe('stopped');
      expect(await containers()).toEqual([]);
    },
    LONG,
  );
});
