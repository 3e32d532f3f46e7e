import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

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
  const rows = process.platform === 'linux' ? rowsOfProc() : rowsOfPs();
  return rows.filter(({ state }) => !state.startsWith('Z'));
}

/** The files of proc(5): tests ask many times while they wait, and a program for it would take ten times as long. */
function rowsOfProc(): readonly ProcessRow[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state = '', parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trimEnd();
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), state, command }];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

function rowsOfPs(): readonly ProcessRow[] {
  const text = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const read = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (read === null) return [];
    const [, pid = 0, parent = 0, group = 0] = read.map(Number);
    return [{ pid, parent, group, state: read[4] ?? '', command: read[5] ?? '' }];
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
