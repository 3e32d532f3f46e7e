import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { ownCommand } from '../own-command.ts';
import { readRecords } from './gateway-record.ts';

/** Who has a port, and what the user does about it, both as parts of a sentence. */
export interface PortOwner {
  readonly who: string;
  readonly advice: string;
}

/**
 * Who listens at a port of this machine, as far as toolmgr knows: gateways and workloads of the state folder. `except` is the workload that
 * asks.
 */
export async function portOwner(
  port: number,
  state: string = stateDir(process.env),
  except?: string,
): Promise<PortOwner> {
  const { running } = await readRecords().catch(() => ({ running: [] }));
  const gateway = running.find(({ url = '' }) => URL.canParse(url) && new URL(url).port === String(port));
  if (gateway !== undefined) {
    const { kind, url, process: mark } = gateway;
    return {
      who: `toolmgr itself: ${kind} (pid ${mark.pid}) serves ${url}`,
      advice: `use it (${ownCommand(`tools --url ${url}`)}), stop it (kill ${mark.pid})`,
    };
  }
  const workloads = await readWorkloads(state).catch(() => []);
  const workload = workloads.find(({ alive, name, status }) => alive && status.port === port && name !== except);
  if (workload !== undefined) {
    return {
      who: `the workload ${workload.name} of toolmgr`,
      advice: `stop it (${ownCommand(`stop ${workload.name}`)})`,
    };
  }
  const find = process.platform === 'win32' ? 'netstat -ano' : `lsof -nP -iTCP:${port} -sTCP:LISTEN`;
  return { who: ANOTHER_PROGRAM, advice: `find and stop it (${find})` };
}

/** `who` of a program that is not toolmgr, or of another user. */
export const ANOTHER_PROGRAM = 'another program';
