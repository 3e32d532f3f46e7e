import { createServer } from 'node:net';
import { type Gateway, GatewayFault } from '@toolmgr/core';
import { readWorkloads } from '@toolmgr/plugins/workloads/state';
import { type Served, serveGateway } from '../http/listen.ts';
import type { HostRoute } from '../http/mount.ts';

/** Where a workload's endpoint should listen. */
export interface WantedPort {
  readonly gateway: Pick<Gateway, 'handle'>;
  readonly state: string;
  readonly name: string;
  readonly host: string;
  /** `--proxy-port`; 0 is as good as none. */
  readonly requested: number | undefined;
  /** Of the last start. */
  readonly remembered: number | undefined;
  readonly routes: readonly HostRoute[];
  readonly allowedHosts?: readonly string[];
}

/**
 * Binds first and tells the port afterwards, so nobody can take it in between.
 *
 * A requested port must be free. A remembered one is taken again, because clients know it; when somebody else has it
 * now, any free one is better than none.
 * @throws GatewayFault LISTEN_FAILED naming who has the port, as far as it is known, and the way out
 */
export async function listenForWorkload(wanted: WantedPort): Promise<Served> {
  const { gateway, host, requested, remembered, routes, allowedHosts } = wanted;
  const on = (port: number): Promise<Served> =>
    serveGateway(gateway, { host, port, routes, ...(allowedHosts === undefined ? {} : { allowedHosts }) });
  if (requested) {
    try {
      return await on(requested);
    } catch (cause) {
      if (!isTaken(cause)) throw cause;
      throw new GatewayFault('LISTEN_FAILED', await whoHas(wanted.state, host, requested, wanted.name), { cause });
    }
  }
  if (remembered === undefined) return on(0);
  return on(remembered).catch((cause: unknown) => {
    if (isTaken(cause)) return on(0);
    throw cause;
  });
}

/** Why a port is unavailable, before anything is started; `undefined` when it is free. */
export async function whyTaken(state: string, host: string, port: number, name: string): Promise<string | undefined> {
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer();
    // anything but a taken port is told by the listener itself, with its own words
    server.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code !== 'EADDRINUSE'));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
  return free ? undefined : whoHas(state, host, port, name);
}

async function whoHas(state: string, host: string, port: number, name: string): Promise<string> {
  const records = await readWorkloads(state).catch(() => []);
  const holder = records.find((record) => record.alive && record.status.port === port && record.name !== name);
  const who =
    holder === undefined
      ? `another program (find it with: lsof -nP -iTCP:${port} -sTCP:LISTEN)`
      : `workload ${holder.name} (toolmgr stop ${holder.name})`;
  return `port ${port} on ${host} is taken by ${who}; choose another --proxy-port, or leave it out for a free one`;
}

function isTaken(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return (cause as NodeJS.ErrnoException).code === 'EADDRINUSE' || isTaken(cause.cause);
}
