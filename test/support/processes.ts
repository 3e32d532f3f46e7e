import { execFileSync } from 'node:child_process';

/** One row of `ps`. */
export interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  readonly state: string;
  readonly command: string;
}

/** All running processes, without zombies. */
export function processes(): readonly ProcessRow[] {
  const text = execFileSync('ps', ['-axo', 'pid=,pgid=,stat=,args='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const read = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (read === null || read[3]?.startsWith('Z')) return [];
    return [{ pid: Number(read[1]), group: Number(read[2]), state: read[3] ?? '', command: read[4] ?? '' }];
  });
}

/** Processes whose command line contains a text, except this process. */
export function processesWith(text: string): readonly ProcessRow[] {
  return processes().filter(({ pid, command }) => pid !== process.pid && command.includes(text));
}
