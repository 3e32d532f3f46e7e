import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Gateway, GatewayFault } from '@toolmgr/core';
import { listWorkloadNames, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { type Served, serveGateway } from '../../http/listen.ts';
import type { HostRoute } from '../../http/mount.ts';
import { portOwner } from '../../shared/running/port-owner.ts';

/** Where a workload's endpoint should listen, and what it serves. */
export interface WantedPort {
  readonly gateway: Pick<Gateway, 'handle'>;
  readonly state: string;
  readonly name: string;
  readonly host: string;
  /** `--proxy-port`; 0 is the same as none. */
  readonly requested: number | undefined;
  /** Port of the last start. */
  readonly remembered: number | undefined;
  /** A remembered port is as good as a requested one. */
  readonly keepsPort?: boolean;
  readonly routes: readonly HostRoute[];
  readonly allowedHosts?: readonly string[];
}

/**
 * Binds first and returns the port afterwards, so that no other program can take it in between.
 *
 * A requested port must be free. A remembered port is used again, because clients know it; if another program has it now,
 * any free port is taken unless `keepsPort`.
 * @throws GatewayFault LISTEN_FAILED naming the holder of the port, if known, and what to do
 */
export async function listenForWorkload(wanted: WantedPort): Promise<Served> {
  const { gateway, host, remembered, keepsPort = false, routes, allowedHosts } = wanted;
  const requested = wanted.requested || (keepsPort ? remembered : undefined);
  const on = (port: number): Promise<Served> =>
    serveGateway(gateway, { host, port, routes, ...(allowedHosts === undefined ? {} : { allowedHosts }) });
  if (requested) {
    try {
      return await on(requested);
    } catch (cause) {
      if (!isTaken(cause)) throw cause;
      throw new GatewayFault('LISTEN_FAILED', await takenBy(wanted.state, host, requested, wanted.name), { cause });
    }
  }
  if (remembered === undefined) return onFreePort(wanted, on);
  for (let tries = 1; ; tries++) {
    try {
      return await on(remembered);
    } catch (cause) {
      if (!isTaken(cause)) throw cause;
      if (tries === TRIES) return onFreePort(wanted, on);
      await delay(PAUSE_MS); // another start may have it for a moment, see onFreePort
    }
  }
}

const TRIES = 5;
const PAUSE_MS = 100;

/**
 * Listens on a port that no other workload remembers. A port of a stopped workload is held only until a better one is found, so that
 * its own start, which waits, gets it.
 */
async function onFreePort({ state, name }: WantedPort, on: (port: number) => Promise<Served>): Promise<Served> {
  const taken = await rememberedPorts(state, name);
  const held: Served[] = [];
  try {
    for (;;) {
      const served = await on(0);
      if (!taken.has(served.port) || held.length >= MOST_HELD) return served;
      held.push(served);
    }
  } finally {
    await Promise.all(held.map((each) => each.close(0)));
  }
}

const MOST_HELD = 64;

/** Ports of the last starts of the other workloads. */
async function rememberedPorts(state: string, name: string): Promise<ReadonlySet<number>> {
  const names = await listWorkloadNames(state);
  const ports = new Set<number>();
  for (const other of names) {
    if (other === name) continue;
    const text = await readFile(join(workloadDir(state, other), WORKLOAD_FILES.status), 'utf8').catch(() => '');
    const port = /"port": (\d{1,5})\b/.exec(text)?.[1]; // all files are read at each first start: they are not parsed
    if (port !== undefined) ports.add(Number(port));
  }
  return ports;
}

/** Why a port is unavailable, before anything is started; `undefined` when it is free. */
export async function portProblem(
  state: string,
  host: string,
  port: number,
  name: string,
): Promise<string | undefined> {
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer();
    // other errors are reported by the real listener
    server.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code !== 'EADDRINUSE'));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
  return free ? undefined : takenBy(state, host, port, name);
}

async function takenBy(state: string, host: string, port: number, name: string): Promise<string> {
  const { who, advice } = await portOwner(port, state, name);
  return `port ${port} on ${host} is taken by ${who}; ${advice}, choose another --proxy-port, or leave it out for a free one`;
}

function isTaken(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return (cause as NodeJS.ErrnoException).code === 'EADDRINUSE' || isTaken(cause.cause);
}
