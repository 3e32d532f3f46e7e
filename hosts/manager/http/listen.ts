import { chmod, lstat, mkdir, rm, stat } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { dirname, resolve } from 'node:path';
import { DEFAULT_LIMITS, GatewayFault } from '@toolmgr/core';
import type { FastifyInstance } from 'fastify';
import { boundConnections, explainListenError, hostForUrl } from '../../http/listen.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { HTTP_LIMITS } from './limits.ts';

/** Listens on an address and returns the URL. @throws GatewayFault LISTEN_FAILED */
export async function listenOnPort(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  boundConnections(app.server, {
    connections: HTTP_LIMITS.connections,
    connectionsPerAddress: DEFAULT_LIMITS.connectionsPerAddress,
  });
  try {
    await app.listen({ host: host.replace(/^\[|\]$/g, ''), port });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new GatewayFault('LISTEN_FAILED', await explainListenError(code, host, port), { cause });
  }
  return `http://${hostForUrl(host)}:${(app.server.address() as AddressInfo).port}`;
}

/**
 * Listens on a unix socket, mode 0660, in a folder of mode 0750 that is created when it does not exist. A socket that no
 * process serves is replaced.
 * @throws UsageError when the path is taken or its folder is open to others
 */
export async function listenOnSocket(app: FastifyInstance, given: string): Promise<string> {
  const path = resolve(given);
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
    throw new UsageError(`--socket: the path is longer than ${MAX_SOCKET_PATH} bytes, which the system does not allow`);
  }
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o750 });
  if (((await stat(folder)).mode & 0o002) !== 0) {
    throw new UsageError(
      `--socket: every user may write to ${folder}, so one could replace the socket; choose another folder`,
    );
  }
  await removeStaleSocket(path);
  const before = process.umask(0o117); // from the first moment only user and group may connect
  try {
    await app.listen({ path });
  } catch (cause) {
    throw new GatewayFault('LISTEN_FAILED', `cannot listen on ${path}: ${(cause as Error).message}`, { cause });
  } finally {
    process.umask(before);
  }
  await chmod(path, 0o660);
  return `unix://${path}`;
}

const MAX_SOCKET_PATH = 103; // sun_path of macOS

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new UsageError(`--socket: ${path} exists and is not a socket`);
  if (await isServed(path)) throw new UsageError(`--socket: another program serves ${path}`);
  await rm(path, { force: true });
}

function isServed(path: string): Promise<boolean> {
  const { promise, resolve: done } = Promise.withResolvers<boolean>();
  const trial = connect(path);
  trial.once('connect', () => done(true)).once('error', () => done(false));
  return promise.finally(() => trial.destroy());
}
