import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** A new folder that is removed when the test ends. To be called in a test. */
export function temporaryFolder(name: string): string {
  return removedBy(onTestFinished, name);
}

/** A new folder that is removed after all tests of the file. To be called outside a test. */
export function temporaryFolderOfFile(name: string): string {
  return removedBy(afterAll, name);
}

function removedBy(atEnd: (remove: () => void) => void, name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `toolmgr-${name}-`)));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  return folder;
}
