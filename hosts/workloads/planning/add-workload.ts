import { randomUUID } from 'node:crypto';
import {
  createRecord,
  forgetSecrets,
  keepNewSecrets,
  RESERVED_WORKLOAD_NAMES,
  type RunConfig,
  readWorkloads,
} from '@toolmgr/plugins/kit/workloads';
import { isLoopbackHost } from '../../http/listen.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { portProblem } from '../proxy/ports.ts';
import { encryptedOfProcess } from '../secrets/process-secrets.ts';
import { checkNewGroup, groupsOf } from './groups.ts';

/**
 * Writes a new, stopped workload to disk. Returns its id, which tells it from a later one of the same name.
 * @throws UsageError when its name or requested port is taken, or the name of a new group is not valid
 */
export async function addWorkload(
  state: string,
  config: RunConfig,
  secrets: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { name, group, host, port } = config;
  if (RESERVED_WORKLOAD_NAMES.includes(name))
    throw new UsageError(`the name ${name} is a word of the API: choose another name`);
  checkNewGroup(group, await groupsOf(state, await readWorkloads(state)));
  const taken = port ? await portProblem(state, host, port, name) : undefined;
  if (taken !== undefined) throw new UsageError(taken);
  const id = randomUUID();
  encryptedOfProcess();
  const kept = await keepNewSecrets(name, secrets);
  if (await createRecord(state, config, kept, id)) return id;
  if ('encrypted' in kept && typeof kept.encrypted === 'object') await forgetSecrets(kept.encrypted.id);
  throw new UsageError(
    `there is a workload ${name} already: see it (${ownCommand(`status ${name}`)}), start it again (${ownCommand(`start ${name}`)}), remove it (${ownCommand(`rm ${name}`)}), or choose another --name`,
  );
}

/** Warnings about an endpoint that other machines can reach. */
export function exposureWarnings(
  config: Pick<RunConfig, 'host' | 'allowed_origins' | 'oidc_config' | 'plugins'>,
): readonly string[] {
  const { host, plugins = [] } = config;
  const isOpen = !isLoopbackHost(host);
  const checksCallers = config.oidc_config !== undefined || plugins.some(({ use }) => use.startsWith('incoming-auth/'));
  return [
    ...(isOpen && !checksCallers
      ? [
          `${host} is not a loopback address: everyone who can reach it can use this server; --oidc-issuer asks for a token`,
        ]
      : []),
    ...(isOpen && config.allowed_origins === undefined
      ? [
          `${host} is not a loopback address and --allowed-origins is not given: only its own page and MCP Inspector of this machine are accepted`,
        ]
      : []),
  ];
}
