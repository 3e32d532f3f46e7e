import { GatewayFault, LATE, within } from '@toolmgr/core';
import { type Installation, thisInstallation } from '@toolmgr/plugins/kit/workloads';
import Dockerode from 'dockerode';
import { type EngineSocket, engineSockets } from './engine-sockets.ts';

/** A container engine that answered. */
export interface Engine {
  readonly kind: 'docker' | 'podman';
  readonly socketPath: string;
  readonly version: string;
  readonly api: Dockerode;
  /** The environment by which it was found. */
  readonly env: NodeJS.ProcessEnv;
  /** The installation of this process, which owns what it creates there. @throws GatewayFault WORKLOAD_FAILED as `thisInstallation` */
  owner(): Promise<Installation>;
}

/** An engine on a busy machine answers late; one that hangs must not hide the next one for long. */
const PING_MS = 15_000;

/**
 * Finds the first engine that answers.
 * @throws GatewayFault WORKLOAD_FAILED that names what was tried and what helps
 */
export async function connectEngine(env: NodeJS.ProcessEnv): Promise<Engine> {
  const sockets = engineSockets(env);
  if ('reason' in sockets) throw new GatewayFault('WORKLOAD_FAILED', sockets.reason);
  const failures: string[] = [];
  for (const socket of sockets) {
    const found = await ping(new Dockerode({ socketPath: socket.path, version: 'v1.41', timeout: 0 }), socket);
    if ('version' in found) return { ...found, env, owner: () => thisInstallation(env) };
    if (found.isThere) failures.push(`${socket.path}: ${found.reason}`);
    else if (socket.from !== undefined) failures.push(`${socket.path} (${socket.from}): ${found.reason}`);
  }
  throw new GatewayFault('WORKLOAD_FAILED', noEngine(failures));
}

/** A socket and what answered there. */
export interface EngineCheck {
  readonly kind: 'docker' | 'podman';
  readonly socket: string;
  /** The variable that names the socket. */
  readonly from?: string;
  readonly version?: string;
  /** Why no engine answers there. */
  readonly problem?: string;
}

/** Tries every socket that exists or is named by a variable; the first with a version is the one that is used. */
export async function tryEngines(env: NodeJS.ProcessEnv): Promise<readonly EngineCheck[]> {
  const sockets = engineSockets(env);
  if ('reason' in sockets) throw new GatewayFault('WORKLOAD_FAILED', sockets.reason);
  const tried = await Promise.all(
    sockets.map(async (socket): Promise<EngineCheck | undefined> => {
      const api = new Dockerode({ socketPath: socket.path, version: 'v1.41', timeout: 0 });
      const found = await ping(api, socket);
      const from = socket.from === undefined ? {} : { from: socket.from };
      if ('version' in found) return { kind: found.kind, socket: socket.path, ...from, version: found.version };
      if (!found.isThere && socket.from === undefined) return undefined;
      return { kind: socket.kind, socket: socket.path, ...from, problem: found.reason };
    }),
  );
  return tried.filter((check) => check !== undefined);
}

async function ping(
  api: Dockerode,
  { kind, path }: EngineSocket,
): Promise<Omit<Engine, 'owner' | 'env'> | { readonly reason: string; readonly isThere: boolean }> {
  try {
    const said = await within(PING_MS, undefined, api.version());
    if (said === LATE) return { reason: `it did not answer within ${PING_MS / 1_000} s`, isThere: true };
    const isPodman = (said.Components ?? []).some(({ Name }) => Name.includes('Podman'));
    return { kind: isPodman ? 'podman' : kind, socketPath: path, version: said.Version, api };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { reason: 'there is no such socket', isThere: false };
    if (code === 'EACCES') return { reason: 'permission denied (add your user to the group docker)', isThere: true };
    if (code === 'ECONNREFUSED') return { reason: 'the engine does not run', isThere: true };
    return { reason: cause instanceof Error ? cause.message : String(cause), isThere: true };
  }
}

function noEngine(failures: readonly string[]): string {
  const tried = failures.length === 0 ? '' : ` (${failures.join('; ')})`;
  return (
    `no container engine answers${tried}: start Docker or Podman, name its socket in DOCKER_HOST, ` +
    'or run the server as a process (--runtime process)'
  );
}
