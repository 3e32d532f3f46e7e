import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { atomicWrite, syncFolder } from '../../files/atomic-write.ts';
import { withLock } from '../../files/lock.ts';
import { whenAbsent } from '../../files/when-absent.ts';
import { writeConfig } from './records.ts';
import { readRunConfig } from './run-config/read-run-config.ts';
import type { RunConfig } from './run-config/run-config.ts';
import { readWorkload, WORKLOAD_FILES, workloadDir } from './workload-record.ts';
import { addSecretsLocked } from './workload-secret-store.ts';

/**
 * Stores another configuration of a workload, with secrets beside those that it has. The old one is kept until
 * {@link finishReplacement} or {@link restoreConfig}. `gone` when the record is gone, or is another one than `id`; `changed` when its
 * configuration is not `expected`.
 * @throws Error of the file system; the old configuration counts
 */
export async function replaceConfig(
  state: string,
  name: string,
  config: RunConfig,
  secrets: Readonly<Record<string, string>> = {},
  { id, expected }: { readonly id?: string | undefined; readonly expected?: RunConfig | undefined } = {},
): Promise<'replaced' | 'changed' | 'gone'> {
  return withLock(state, name, async () => {
    const now = await readWorkload(state, name);
    if (now === undefined || (id !== undefined && now.status.id !== id)) return 'gone';
    if (expected !== undefined && !isDeepStrictEqual(now.config, expected)) return 'changed';
    await addSecretsLocked(state, name, secrets);
    // an earlier replacement that did not end has the configuration that last ran
    if (now.config !== undefined && (await readPrevious(state, name)) === undefined) {
      await atomicWrite(previousPath(state, name), `${JSON.stringify(now.config, undefined, 2)}\n`);
    }
    await writeConfig(state, config);
    return 'replaced';
  });
}

/** Forgets the configuration before a replacement. */
export async function finishReplacement(state: string, name: string): Promise<void> {
  await rm(previousPath(state, name), { force: true });
}

/** Puts the configuration before a replacement back; `undefined` when there is none. */
export async function restoreConfig(state: string, name: string): Promise<RunConfig | undefined> {
  return withLock(state, name, async () => {
    const previous = await readPrevious(state, name);
    if (previous === undefined) return undefined;
    await writeConfig(state, previous);
    await rm(previousPath(state, name), { force: true });
    await syncFolder(workloadDir(state, name));
    return previous;
  });
}

/** Whether a replacement of a workload has not ended. */
export async function isReplaced(state: string, name: string): Promise<boolean> {
  return (await readPrevious(state, name)) !== undefined;
}

async function readPrevious(state: string, name: string): Promise<RunConfig | undefined> {
  const text = await readFile(previousPath(state, name), 'utf8').catch(whenAbsent(undefined));
  if (text === undefined) return undefined;
  const read = readRunConfig(JSON.parse(text));
  return 'config' in read ? read.config : undefined;
}

function previousPath(state: string, name: string): string {
  return join(workloadDir(state, name), WORKLOAD_FILES.previousConfig);
}
