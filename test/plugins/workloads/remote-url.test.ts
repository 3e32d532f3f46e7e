import { type WorkloadHandle, type WorkloadSpec, workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';

import plugin from '../../../plugins/workloads/remote-url/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const spec = (more: Partial<WorkloadSpec> = {}): WorkloadSpec => ({
  name: 'far',
  group: 'default',
  transport: 'streamable-http',
  url: 'https://mcp.example/mcp?key=1',
  env: {},
  ...more,
});

async function start(of: WorkloadSpec, config = {}): Promise<WorkloadHandle> {
  const core = await bootPlugin(plugin, config);
  return core.slot(workloadRuntimes).get('remote-url').start(of, new AbortController().signal);
}

describe('workloads/remote-url', () => {
  proves('ask.plugin.remote-url', 'serves a URL as a workload that runs until it is stopped', async () => {
    const handle = await start(spec());
    expect(handle.reach).toEqual({ transport: 'streamable-http', url: 'https://mcp.example/mcp?key=1' });
    expect(handle.state).toMatchObject({ name: 'far', status: 'running', restarts: 0 });
    expect(handle.logs()).toBe('');
    await handle.stop(0);
    const stopped = { name: 'far', status: 'stopped', restarts: 0 };
    expect([handle.state, await handle.ended]).toEqual([stopped, stopped]);
  });

  it('says where the host of the URL may lead', async () => {
    expect((await start(spec(), { addresses: 'public' })).reach).toMatchObject({ addresses: 'public' });
  });

  it('refuses an invalid address of a remote server', async () => {
    await expect(start(spec({ url: undefined }))).rejects.toThrow('workload far: the remote runtime needs a URL');
    await expect(start(spec({ url: 'ftp://x' }))).rejects.toThrow(/must begin with http or https/);
    await expect(start(spec({ url: 'https://u:p@x' }))).rejects.toThrow(/must not contain a user name or password/);
    await expect(start(spec({ transport: 'stdio' }))).rejects.toThrow(/not stdio/);
  });
});
