import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** An engine that may answer: its kind and how it is reached. */
export interface EngineSocket {
  readonly kind: 'docker' | 'podman';
  /** Path of a unix socket or Windows pipe. */
  readonly path: string;
  /** The variable that names it; such a socket is used or refused, nothing else is tried. */
  readonly from?: string;
}

/** A `DOCKER_HOST` that cannot be used, with the reason. */
export interface UnusableHost {
  readonly reason: string;
}

const OVERRIDES = { TOOLMGR_DOCKER_SOCKET: 'docker', TOOLMGR_PODMAN_SOCKET: 'podman' } as const;

/**
 * Sockets on which a container engine may answer, best first: the one that the environment names, else the usual places of
 * Docker, then of Podman.
 *
 * Source: reference choices, `run` (`DOCKER_HOST` first, docker before podman).
 */
export function engineSockets(
  env: NodeJS.ProcessEnv,
  platform = process.platform,
): readonly EngineSocket[] | UnusableHost {
  for (const [from, kind] of Object.entries(OVERRIDES)) {
    const path = env[from];
    if (path) return [{ kind, path, from }];
  }
  const host = env.DOCKER_HOST;
  if (host) return socketOf(host);
  if (platform === 'win32') {
    return [
      { kind: 'docker', path: '//./pipe/docker_engine' },
      { kind: 'podman', path: '//./pipe/podman-machine-default' },
    ];
  }
  const home = env.HOME ?? homedir();
  const docker = [
    '/var/run/docker.sock',
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
  ];
  const others = [
    join(home, '.rd/docker.sock'),
    join(home, '.orbstack/run/docker.sock'),
    join(home, '.colima/default/docker.sock'),
  ];
  const rootless = env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, 'docker.sock')] : [];
  const podman = [
    '/run/podman/podman.sock',
    ...(env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, 'podman/podman.sock')] : []),
    join(home, '.local/share/containers/podman/machine/podman.sock'),
    join(env.TMPDIR ?? tmpdir(), 'podman/podman-machine-default-api.sock'),
  ];
  return [
    ...[...docker, ...rootless, ...others].map((path) => ({ kind: 'docker', path }) as const),
    ...podman.map((path) => ({ kind: 'podman', path }) as const),
  ];
}

/** Whether a variable names the engine: then it must answer, and nothing else is used instead. */
export function namesEngine(env: NodeJS.ProcessEnv): boolean {
  return [...Object.keys(OVERRIDES), 'DOCKER_HOST'].some((name) => Boolean(env[name]));
}

function socketOf(host: string): readonly EngineSocket[] | UnusableHost {
  const path = /^(?:unix|npipe):\/\/(.+)$/.exec(host)?.[1];
  if (path === undefined) {
    return {
      reason:
        'DOCKER_HOST does not name a unix socket or pipe (unix:///path/to/docker.sock); other engines are not supported',
    };
  }
  return [{ kind: path.includes('podman') ? 'podman' : 'docker', path, from: 'DOCKER_HOST' }];
}
