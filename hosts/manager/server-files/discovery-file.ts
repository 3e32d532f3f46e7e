import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, isRunning, markProcess, type ProcessMark, withLock } from '@toolmgr/plugins/kit/files';
import { z } from 'zod';
import { UsageError } from '../../shared/usage-error.ts';
import { readOwnFile, serverFolder } from './own-folder.ts';

/** `server/server.json`: how other programs find a running manager. Source: reference workload-api §3.2. */
const discovery = z.object({
  /** `http://host:port` or `unix:///path`. */
  url: z.string(),
  pid: z.int(),
  /** Equal to the header `X-Toolmgr-Nonce` of `/health`. */
  nonce: z.string(),
  started_at: z.string(),
});

/** Content of the discovery file. */
export type Discovery = z.output<typeof discovery>;

/** The right to be the manager of a state folder. */
export interface ManagerClaim {
  /** Writes the discovery file. */
  announce(found: Discovery): Promise<void>;
  /** Removes the files. */
  release(): Promise<void>;
}

const LOCK = '.manager'; // no workload has this name

/** Path of the discovery file. */
export function discoveryPath(state: string): string {
  return join(serverFolder(state), 'server.json');
}

function claimPath(state: string): string {
  return join(serverFolder(state), 'process.json');
}

/** Reads the discovery file; `undefined` when there is none or it is damaged. @throws UsageError when it is not safe */
export async function readDiscovery(state: string): Promise<Discovery | undefined> {
  const text = await readOwnFile(discoveryPath(state));
  return text === undefined ? undefined : discovery.safeParse(parsed(text)).data;
}

/**
 * Makes this process the manager of a state folder. The claim of a process that was killed is taken over.
 * @throws UsageError when another manager runs, with its address
 */
export async function claimState(state: string): Promise<ManagerClaim> {
  const mark = await markProcess(process.pid);
  if (mark === undefined) throw new Error('this process cannot be identified');
  await withLock(state, LOCK, async () => {
    const other = await runningClaim(state);
    if (other !== undefined && other.started !== mark.started) {
      const found = await readDiscovery(state);
      const address = found?.pid === other.pid ? ` at ${found.url}` : '';
      throw new UsageError(
        `another manager serves ${state}${address} (process ${other.pid}); stop it, or set TOOLMGR_STATE_DIR to another folder`,
      );
    }
    await rm(discoveryPath(state), { force: true }); // of a manager that was killed
    await atomicWrite(claimPath(state), `${JSON.stringify(mark)}\n`);
  });
  return {
    announce: (found) => atomicWrite(discoveryPath(state), `${JSON.stringify(found, undefined, 2)}\n`),
    release: () =>
      withLock(state, LOCK, async () => {
        if ((await readClaim(state))?.started !== mark.started) return;
        await rm(discoveryPath(state), { force: true });
        await rm(claimPath(state), { force: true });
      }),
  };
}

const claim = z.object({ pid: z.int(), started: z.string() });

async function readClaim(state: string): Promise<ProcessMark | undefined> {
  const text = await readOwnFile(claimPath(state));
  return text === undefined ? undefined : claim.safeParse(parsed(text)).data;
}

/** The process that has the state; `undefined` when it no longer runs. */
async function runningClaim(state: string): Promise<ProcessMark | undefined> {
  const mark = await readClaim(state);
  return mark !== undefined && (await isRunning(mark)) ? mark : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
