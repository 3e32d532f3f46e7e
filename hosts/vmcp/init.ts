import { catalogue } from '@toolmgr/plugins';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { stringify } from 'yaml';
import { ownCommand } from '../shared/own-command.ts';
import { UsageError } from '../shared/usage-error.ts';
import { groupConfig } from './group-config.ts';
import { schemaComment } from './schema-comment.ts';
import { sectionsOf } from './sections.ts';

/** A file for the group, and the workloads that it leaves out. */
export interface InitOutcome {
  readonly yaml: string;
  readonly backends: number;
  readonly skipped: readonly string[];
}

/**
 * Creates the vmcp file of a group from its running workloads, sorted by name.
 * @throws UsageError when the group has none
 */
export async function initFromGroup(group: string, state = stateDir(process.env)): Promise<InitOutcome> {
  const records = (await readWorkloads(state)).filter((record) => record.config?.group === group);
  const backends: { name: string; url: string; transport: string }[] = [];
  const skipped: string[] = [];
  for (const { name, status, alive } of records) {
    if (alive && status.status === 'running' && status.url !== undefined) {
      backends.push({ name, url: status.url, transport: 'streamable-http' });
    } else {
      skipped.push(`${name} is ${status.status}${status.message === undefined ? '' : ` (${status.message})`}`);
    }
  }
  if (backends.length === 0) {
    const why = skipped.length === 0 ? '' : `: ${skipped.join('; ')}`;
    throw new UsageError(
      `no workload of group ${group} is running${why}; start one with: ${ownCommand(`run --group ${group} npx://PACKAGE`)}`,
    );
  }
  const config = groupConfig(`${group}-vmcp`, group, await sectionsOf(catalogue), backends);
  const yaml = `${schemaComment()}\n${stringify(config, { lineWidth: 0 })}`;
  return { yaml, backends: backends.length, skipped };
}
