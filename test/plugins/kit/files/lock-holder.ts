// Takes the lock of a file or of a name, sends `held`, and then waits until it is told what to write into `target`.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { withFileLock, withLock } from '../../../../plugins/kit/files/lock.ts';

const [kind = '', path = ''] = process.argv.slice(2);
const hold = async (): Promise<void> => {
  process.send?.('held');
  const [text] = await once(process, 'message');
  await writeFile(path, String(text));
};
await (kind === 'file' ? withFileLock(path, hold) : withLock(dirname(path), 'one', hold));
process.disconnect();
