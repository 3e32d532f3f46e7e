import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';

import { createOptions } from '../../../../plugins/workloads/container/create-options.ts';

const owner = { id: 'o', place: 'ada@host:/state' };
const use = { owner, workload: 'one', group: 'g', transport: 'stdio', runId: 'r', role: 'server' } as const;
const spec = (more: Partial<WorkloadSpec> = {}): WorkloadSpec => ({
  name: 'one',
  group: 'g',
  transport: 'stdio',
  env: { KEY: 'value' },
  container: { image: 'a/b:1', args: ['--x'] },
  ...more,
});
const withContainer = (more: object) => spec({ container: { image: 'a/b:1', args: [], ...more } });

describe('the container that is created', () => {
  it('has no capability, no new privileges and no terminal', () => {
    expect(createOptions(spec(), use)).toMatchObject({
      Image: 'a/b:1',
      Cmd: ['--x'],
      Tty: false,
      HostConfig: { CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], Privileged: false, NetworkMode: 'bridge' },
    });
  });

  it('ends with the gateway over stdio, and is never started again by the engine', () => {
    expect(createOptions(spec(), use)).toMatchObject({
      OpenStdin: true,
      StdinOnce: true,
      HostConfig: { RestartPolicy: { Name: 'no' } },
    });
    const http = createOptions(spec({ transport: 'sse' }), { ...use, targetPort: 3000, hostPort: 4000 });
    expect(http).toMatchObject({ OpenStdin: false, HostConfig: { RestartPolicy: { Name: 'no' } } });
  });

  it('publishes its port on loopback only, and tells the server where to listen', () => {
    const options = createOptions(spec({ transport: 'streamable-http' }), { ...use, targetPort: 3000, hostPort: 4000 });
    expect(options.HostConfig?.PortBindings).toEqual({ '3000/tcp': [{ HostIp: '127.0.0.1', HostPort: '4000' }] });
    expect(options.Env).toEqual(
      expect.arrayContaining([
        'MCP_PORT=3000',
        'FASTMCP_PORT=3000',
        'MCP_HOST=0.0.0.0',
        'MCP_TRANSPORT=streamable-http',
        'KEY=value',
      ]),
    );
  });

  it('has its limits, and with a read-only root a /tmp of its own unless one is mounted', () => {
    expect(createOptions(spec(), { ...use, limits: { Memory: 5, PidsLimit: 6 } }).HostConfig).toMatchObject({
      ...{ Memory: 5, PidsLimit: 6 },
    });
    expect(createOptions(spec(), use).HostConfig).not.toHaveProperty('ReadonlyRootfs');
    const { HostConfig } = createOptions(withContainer({ readOnlyRoot: true }), use);
    expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, Tmpfs: { '/tmp': expect.stringContaining('size=256m') } });
    const mounts = [{ source: '/x', target: '/tmp', readOnly: false }];
    expect(createOptions(withContainer({ readOnlyRoot: true, mounts }), use).HostConfig).not.toHaveProperty('Tmpfs');
  });

  it('listens on loopback in the network of the host, and publishes nothing there', () => {
    const host = { ...withContainer({ network: 'host' }), transport: 'sse' as const };
    const options = createOptions(host, { ...use, targetPort: 3000, hostPort: 3000 });
    expect(options.Env).toContain('MCP_HOST=127.0.0.1');
    expect(options.HostConfig).toMatchObject({ NetworkMode: 'host', PortBindings: {} });
  });

  it('lets the user set variables, and no label of toolmgr', () => {
    const options = createOptions(
      {
        ...withContainer({ labels: { 'dev.toolmgr.name': 'x', 'dev.toolmgr.owner': 'x', team: 't' } }),
        env: { MCP_TRANSPORT: 'mine' },
      },
      use,
    );
    expect(options.Env).toContain('MCP_TRANSPORT=mine');
    expect(options.Labels).toMatchObject({ 'dev.toolmgr.name': 'one', 'dev.toolmgr.owner': 'o', team: 't' });
  });

  it('mounts what it is given and publishes further ports', () => {
    const mounts = [
      { source: '/a b', target: '/data', readOnly: true },
      { source: '/c', target: '/d', readOnly: false },
    ];
    const options = createOptions(
      withContainer({ mounts, publish: [{ hostPort: 80, containerPort: 8080 }, { containerPort: 9 }] }),
      use,
    );
    expect(options.HostConfig).toMatchObject({
      Binds: ['/a b:/data:ro', '/c:/d:rw'],
      PortBindings: { '8080/tcp': [{ HostPort: '80' }], '9/tcp': [{ HostPort: '' }] },
    });
  });
});
