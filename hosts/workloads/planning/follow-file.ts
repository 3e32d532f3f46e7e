import { open, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { createWake, watchFolder } from '../../shared/wake.ts';

/**
 * Writes the content of a file and everything appended to it until `signal` aborts, including the last additions.
 *
 * Waits for a file that does not exist yet; reads a truncated file from its beginning.
 */
export async function followFile(path: string, write: (text: string) => void, signal: AbortSignal): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let at = 0;
  const readOn = async (): Promise<void> => {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.size === at) return;
    if (found.size < at) at = 0;
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) return;
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        write(decoder.write(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await file.close();
    }
  };
  const wake = createWake();
  using _ = watchFolder(dirname(path), (name) => {
    if (name === null || name === basename(path)) wake.now();
  });
  while (!signal.aborted) {
    await readOn();
    await wake.after(LOOK_MS, signal);
  }
  await readOn();
}

const CHUNK_BYTES = 64 * 1024;
/** A file in a folder that did not exist, or on a file system that reports no changes. */
const LOOK_MS = 500;
