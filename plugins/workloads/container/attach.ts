import { request } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayFault } from '@toolmgr/core';

const ATTACH_MS = 30_000;
const QUERY = 'stream=1&stdin=1&stdout=1&stderr=1';

/**
 * Attaches to a container that has been created and not started: the connection becomes its stdin, and carries its output
 * in frames. A raw HTTP upgrade with the options in the query and an empty body: with options in the body, as dockerode
 * sends them, podman writes them into the container's stdin.
 *
 * @throws GatewayFault WORKLOAD_FAILED when the engine does not upgrade the connection within 30 s
 */
export function attach(
  socketPath: string,
  containerId: string,
): Promise<{ readonly socket: Socket; readonly head: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly socket: Socket; readonly head: Buffer }>();
  const refuse = (why: string, cause?: unknown): void =>
    reject(new GatewayFault('WORKLOAD_FAILED', `the engine did not attach to the container: ${why}`, { cause }));
  const sent = request({
    socketPath,
    method: 'POST',
    path: `/v1.41/containers/${encodeURIComponent(containerId)}/attach?${QUERY}`,
    headers: { connection: 'Upgrade', upgrade: 'tcp', 'content-length': '0' },
    signal: AbortSignal.timeout(ATTACH_MS),
  });
  sent.once('upgrade', (_, socket: Socket, head: Buffer) => resolve({ socket, head }));
  sent.once('response', (response) => {
    response.resume();
    refuse(`it answered ${response.statusCode}`);
  });
  sent.once('error', (cause) => refuse(cause.message, cause));
  sent.end();
  return promise;
}
