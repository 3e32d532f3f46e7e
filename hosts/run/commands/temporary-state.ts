import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the state of one process, removed at its end. Everything in this process uses it. */
export function temporaryState(): Disposable & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-state-'));
  process.env.TOOLMGR_STATE_DIR = folder;
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}
