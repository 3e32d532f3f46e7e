import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { printable, stdout, type Terminal } from '../../shared/terminal.ts';
import { type NamedFinding, runChecks } from './checks.ts';
import { fileChecks } from './file-checks.ts';
import { networkChecks } from './network-checks.ts';
import { packageChecks } from './package-checks.ts';
import { programChecks } from './program-checks.ts';

/** Flags of `toolmgr doctor`. */
export interface DoctorFlags {
  readonly format: 'text' | 'json';
}

/** `toolmgr doctor`: checks the machine; exit code 1 when a check fails. Prints no secrets. */
export async function doctor(vmcpFiles: readonly string[], { format }: DoctorFlags): Promise<void> {
  const { env } = process;
  const found = await runChecks([
    ...programChecks(env),
    ...networkChecks(env),
    ...fileChecks(env, vmcpFiles),
    ...packageChecks(env),
  ]);
  const fails = found.filter(({ level }) => level === 'fail').length;
  if (fails > 0) process.exitCode = EXIT_CODES.failed.code;
  if (format === 'json') return stdout.line(JSON.stringify({ ok: fails === 0, checks: found }, undefined, 2));
  for (const line of found.flatMap((one) => linesOf(one, stdout))) stdout.line(line);
}

function linesOf({ check, level, says, fix }: NamedFinding, to: Terminal): readonly string[] {
  const word = to[COLOURS[level]](level.padEnd(WIDTH));
  const line = `${word}  ${check.padEnd(NAME_WIDTH)}  ${printable(says)}`;
  return fix === undefined ? [line] : [line, `${' '.repeat(WIDTH + NAME_WIDTH + 4)}fix: ${printable(fix)}`];
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' } as const;
const WIDTH = 'skipped'.length;
const NAME_WIDTH = 'optional packages'.length;
