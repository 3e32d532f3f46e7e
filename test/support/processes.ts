import { execFileSync } from 'node:child_process';

/** One row of `ps`. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly state: string;
  readonly command: string;
}

/** All running processes, without zombies. */
export function processes(): readonly ProcessRow[] {
  const text = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const read = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (read === null || read[4]?.startsWith('Z')) return [];
    const [, pid, parent, group] = read.map(Number);
    return [{ pid: pid ?? 0, parent: parent ?? 0, group: group ?? 0, state: read[4] ?? '', command: read[5] ?? '' }];
  });
}

/** Processes whose command line contains a text, except this process. */
export function processesWith(text: string): readonly ProcessRow[] {
  return processes().filter(({ pid, command }) => pid !== process.pid && command.includes(text));
}

/** A process and all that it started, directly and indirectly. */
export function treeOf(pid: number): readonly ProcessRow[] {
  const all = processes();
  const below = (parent: number): readonly ProcessRow[] =>
    all.filter((row) => row.parent === parent).flatMap((row) => [row, ...below(row.pid)]);
  return [...all.filter((row) => row.pid === pid), ...below(pid)];
}
