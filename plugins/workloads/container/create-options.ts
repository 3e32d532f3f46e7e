import type { ContainerSpec, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import type { ContainerCreateOptions } from 'dockerode';

import { type ContainerIdentity, labelsOf } from './labels.ts';
import type { EngineLimits } from './limits.ts';
import type { IsolatedNetwork } from './network/isolate.ts';

/** How a container is used. */
export interface ContainerUse extends ContainerIdentity {
  /** The port of the server inside, for HTTP transports. */
  readonly targetPort?: number;
  /** The port of this machine that leads to it. */
  readonly hostPort?: number;
  readonly limits?: EngineLimits;
  /** The network namespace that an isolated container joins. */
  readonly isolated?: Pick<IsolatedNetwork, 'mode' | 'env'>;
}

/**
 * What the engine is told to create. Pure.
 *
 * No capability, `no-new-privileges`, no terminal, limits of memory, processors and processes. A container that is attached to (stdio) closes its stdin with the first
 * client, so that it ends with the gateway, unless it is lasting. The gateway and not the engine starts a container again, so that none runs
 * without its proxy after the machine was restarted.
 * Source: run spec §1; reference run-command §4.2, §4.3.
 */
export function createOptions(spec: WorkloadSpec, use: ContainerUse): ContainerCreateOptions {
  const { container } = spec;
  if (container === undefined) throw new TypeError('a container workload without a container');
  const isStdio = spec.transport === 'stdio';
  const exposed = [...(container.publish ?? []).map(({ containerPort }) => containerPort), ...portOf(use)];
  return {
    Image: container.image,
    ...(container.args.length === 0 ? {} : { Cmd: [...container.args] }),
    Env: Object.entries(environmentOf(spec, use)).map(([name, value]) => `${name}=${value}`),
    Labels: labelsOf(use, container.labels),
    Tty: false,
    OpenStdin: isStdio,
    StdinOnce: isStdio && use.lasting === undefined,
    AttachStdin: isStdio,
    AttachStdout: isStdio,
    AttachStderr: isStdio,
    ...(spec.cwd === undefined ? {} : { WorkingDir: spec.cwd }),
    // engines refuse ports beside the network of another container
    ...(use.isolated === undefined
      ? { ExposedPorts: Object.fromEntries(exposed.map((port) => [`${port}/tcp`, {}])) }
      : {}),
    HostConfig: {
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: container.privileged === true,
      ...use.limits,
      ...(container.readOnlyRoot === true ? readOnlyRoot(container) : {}),
      NetworkMode: use.isolated?.mode ?? container.network ?? 'bridge',
      RestartPolicy: { Name: 'no' },
      Binds: (container.mounts ?? []).map(
        ({ source, target, readOnly }) => `${source}:${target}:${readOnly ? 'ro' : 'rw'}`,
      ),
      ...(use.isolated === undefined ? { PortBindings: bindingsOf(spec, use) } : {}),
    },
  };
}

/** Programs expect that they can write to `/tmp`. It counts as memory of the container. */
function readOnlyRoot({ mounts = [] }: ContainerSpec): ContainerCreateOptions['HostConfig'] {
  const isMounted = mounts.some(({ target }) => target === '/tmp');
  return { ReadonlyRootfs: true, ...(isMounted ? {} : { Tmpfs: { '/tmp': 'rw,nosuid,nodev,mode=1777,size=256m' } }) };
}

/** What the server learns about its transport. A server that obeys `MCP_HOST` must listen on the container's own address. */
function environmentOf(spec: WorkloadSpec, use: ContainerUse): Readonly<Record<string, string>> {
  return { MCP_TRANSPORT: spec.transport, ...addressOf(spec, use), ...spec.env, ...use.isolated?.env };
}

function addressOf(spec: WorkloadSpec, { targetPort }: ContainerUse): Readonly<Record<string, string>> {
  if (targetPort === undefined) return {};
  const host = spec.container?.network === 'host' ? '127.0.0.1' : '0.0.0.0';
  const port = String(targetPort);
  return { MCP_HOST: host, MCP_PORT: port, FASTMCP_PORT: port, PORT: port };
}

function bindingsOf({ container }: WorkloadSpec, use: ContainerUse) {
  const published = (container?.publish ?? []).map(
    ({ hostPort, containerPort }) =>
      [`${containerPort}/tcp`, [{ HostPort: hostPort === undefined ? '' : String(hostPort) }]] as const,
  );
  const hasOwnNetwork = container?.network !== 'host' && container?.network !== 'none';
  const own = hasOwnNetwork
    ? portOf(use).map(
        (port) => [`${port}/tcp`, [{ HostIp: '127.0.0.1', HostPort: String(use.hostPort ?? '') }]] as const,
      )
    : [];
  return Object.fromEntries([...published, ...own]);
}

function portOf({ targetPort }: ContainerUse): readonly number[] {
  return targetPort === undefined ? [] : [targetPort];
}
