import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { connectEngine } from '../../../../plugins/workloads/container/engine.ts';
import { engineSockets } from '../../../../plugins/workloads/container/engine-sockets.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const paths = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux'): readonly string[] => {
  const found = engineSockets(env, platform);
  return 'reason' in found ? [found.reason] : found.map(({ kind, path }) => `${kind} ${path}`);
};

describe('the search for a container engine', () => {
  proves('choice.run.engine-order', 'uses the socket of DOCKER_HOST and no other', () => {
    expect(paths({ DOCKER_HOST: 'unix:///run/me/docker.sock' })).toEqual(['docker /run/me/docker.sock']);
    expect(paths({ DOCKER_HOST: 'unix:///run/podman/podman.sock' })).toEqual(['podman /run/podman/podman.sock']);
  });

  it('prefers the variables of toolmgr', () => {
    const env = { TOOLMGR_PODMAN_SOCKET: '/p.sock', DOCKER_HOST: 'unix:///d.sock' };
    expect(paths(env)).toEqual(['podman /p.sock']);
  });

  it('refuses an engine of another machine by name', () => {
    expect(paths({ DOCKER_HOST: 'tcp://10.0.0.1:2375' })[0]).toMatch(/^DOCKER_HOST does not name a unix socket/);
  });

  proves('choice.run.engine-order', 'tries Docker before Podman', () => {
    const found = paths({ HOME: '/home/ada', XDG_RUNTIME_DIR: '/run/user/1' });
    expect(found[0]).toBe('docker /var/run/docker.sock');
    expect(found).toContain('docker /home/ada/.colima/default/docker.sock');
    expect(found.findLastIndex((path) => path.startsWith('docker'))).toBeLessThan(
      found.findIndex((path) => path.startsWith('podman')),
    );
    expect(found).toContain('podman /run/user/1/podman/podman.sock');
  });

  it('says what was tried and what helps', async () => {
    await expect(connectEngine({ DOCKER_HOST: 'unix:///absent.sock' })).rejects.toThrow(
      'no container engine answers (/absent.sock (DOCKER_HOST): there is no such socket): start Docker or Podman',
    );
  });

  it('gives up on a socket that does not answer', async () => {
    const folder = temporaryFolder('mute');
    const mute = createServer().listen(join(folder, 'mute.sock'));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = once(mute, 'connection');
      const connected = connectEngine({ DOCKER_HOST: `unix://${join(folder, 'mute.sock')}` });
      const refused = expect(connected).rejects.toThrow(/it did not answer within 15 s/);
      await asked;
      await vi.advanceTimersByTimeAsync(15_000);
      await refused;
    } finally {
      vi.useRealTimers();
      mute.close();
    }
  });
});
