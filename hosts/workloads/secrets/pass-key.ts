import type { Readable, Writable } from 'node:stream';
import type { FileKey } from '@toolmgr/plugins/secrets';
import { z } from 'zod';

// The key of the encrypted secrets goes to the detached proxy through its stdin: a command line, an environment and a file
// could be read by others.

/** Passes a key and closes the stream. */
export function passKey(to: Writable, { header, key }: FileKey): void {
  to.on('error', () => {}); // the proxy ended; its status says why
  to.end(JSON.stringify({ header, key: key.toString('base64') }));
}

/** The key on stdin; `undefined` when there is none. Waits at most five seconds for the end of the stream. */
export async function readPassedKey(from: Readable & { readonly isTTY?: boolean }): Promise<FileKey | undefined> {
  if (from.isTTY) return undefined;
  let text = '';
  const timeout = setTimeout(() => from.destroy(), READ_MS);
  try {
    for await (const chunk of from) {
      text += chunk;
      if (text.length > MAX_LENGTH) return undefined;
    }
    const read = passed.safeParse(text === '' ? undefined : JSON.parse(text));
    return read.success ? { header: read.data.header, key: Buffer.from(read.data.key, 'base64') } : undefined;
  } catch {
    return undefined; // without a key the proxy looks for the password itself, and says what is missing
  } finally {
    clearTimeout(timeout);
  }
}

const passed = z.strictObject({ header: z.string(), key: z.base64() });
const MAX_LENGTH = 16 * 1024;
const READ_MS = 5_000;
