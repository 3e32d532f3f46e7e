import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisInstallation } from '@toolmgr/plugins/kit/workloads';

/**
 * A folder for the state of one process, removed at its end. Everything in this process uses it. Containers belong to the installation of
 * the usual state folder, so that the next process removes what a killed one left; where that folder is not writable, to none.
 */
export async function temporaryState(): Promise<Disposable & { readonly folder: string }> {
  const installation = await thisInstallation(process.env).catch(() => undefined);
  if (installation !== undefined) process.env.TOOLMGR_INSTALLATION = installation.id;
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-state-'));
  process.env.TOOLMGR_STATE_DIR = folder;
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}
