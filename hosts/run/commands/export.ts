import { open } from 'node:fs/promises';
import { explainCause } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { type RunConfig, readWorkload } from '@toolmgr/plugins/kit/workloads';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import { ownSecretNames } from '../../workloads/secrets/references.ts';

/** The text of an exported configuration: without the time at which this workload was made, and without secrets. */
export function exportedText({ created_at: _, ...config }: RunConfig): string {
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/**
 * `toolmgr export`: writes the run configuration of a workload to a file with mode 0600, or to standard output.
 * @throws UsageError when there is no such workload, its configuration cannot be read or the file cannot be written
 */
export async function exportWorkload(name: string, file: string | undefined): Promise<void> {
  const state = stateDir(process.env);
  const record = await readWorkload(state, name);
  if (record === undefined) throw new UsageError(await unknownWorkload(state, name));
  if (record.config === undefined) throw new UsageError(`${name}: ${record.status.message}`);
  const text = exportedText(record.config);
  if (file === undefined || file === '-') process.stdout.write(text);
  else {
    await writePrivate(file, text);
    stdout.line(`${name} is exported to ${file}`);
  }
  const secrets = ownSecretNames(record.config);
  if (secrets.length > 0)
    stderr.line(`not exported: the secrets ${secrets.join(', ')}; --from-config reads TOOLMGR_SECRET_${secrets[0]}`);
}

async function writePrivate(file: string, text: string): Promise<void> {
  try {
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.chmod(0o600); // of a file that was there before
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new UsageError(`${file} cannot be written: ${explainCause(cause)}`);
  }
}
