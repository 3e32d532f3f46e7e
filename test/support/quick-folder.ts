import { mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Free bytes below which the disk is used: an installation takes less than 1 GB. */
const FREE_BYTES = 6_000_000_000;

/** A new folder for thousands of files: in memory where the machine has plenty of it, else on its disk. To be removed by the caller. */
export function quickFolder(name: string): string {
  return mkdtempSync(join(isMemoryFree() ? MEMORY : tmpdir(), `toolmgr-${name}-`));
}

function isMemoryFree(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, kilobytes = '0'] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY);
    const mayRunPrograms = mount !== undefined && !/[ ,]noexec[ ,]/.test(mount);
    return mayRunPrograms && Math.min(bavail * bsize, Number(kilobytes) * 1_024) > FREE_BYTES;
  } catch {
    return false; // another system than Linux
  }
}
