import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { printable, stdout, type Terminal } from '../../shared/terminal.ts';
import { type NamedFinding, runChecks } from './checks.ts';
import { fileChecks } from './file-checks.ts';
import { namedFileChecks } from './named-file-checks.ts';
import { networkChecks } from './network-checks.ts';
import { packageChecks } from './package-checks.ts';
import { programChecks } from './program-checks.ts';

/** Flags of `toolmgr doctor`. */
export interface DoctorFlags {
  readonly format: 'text' | 'json';
  /** Lists each optional feature that misses packages. */
  readonly all?: boolean;
}

/** `toolmgr doctor`: checks the machine; exit code 1 when a check fails. Prints no secrets. */
export async function doctor(
  files: readonly string[],
  { format, all = format === 'json' }: DoctorFlags,
): Promise<void> {
  const { env } = process;
  const found = await runChecks([
    ...programChecks(env),
    ...networkChecks(env),
    ...fileChecks(env),
    ...namedFileChecks(files),
    ...packageChecks(env, all),
  ]);
  const fails = found.filter(({ level }) => level === 'fail').length;
  if (fails > 0) process.exitCode = EXIT_CODES.failed.code;
  if (format === 'json') return stdout.json({ ok: fails === 0, checks: found });
  for (const [at, one] of found.entries()) {
    const next = found[at + 1];
    const isRepeated = next?.check === one.check && next.fix === one.fix;
    for (const line of linesOf(one, stdout)) stdout.line(line);
    if (one.fix !== undefined && !isRepeated) stdout.line(`${INDENT}fix: ${printable(one.fix)}`);
  }
}

function linesOf({ check, level, says }: NamedFinding, to: Terminal): readonly string[] {
  const word = to[COLOURS[level]](level.padEnd(WIDTH));
  const [first = '', ...more] = printable(says).split('\n');
  return [`${word}  ${check.padEnd(NAME_WIDTH)}  ${first}`, ...more.map((line) => `${INDENT}${line}`)];
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' } as const;
const WIDTH = 'skipped'.length;
const NAME_WIDTH = 'optional packages'.length;
const INDENT = ' '.repeat(WIDTH + NAME_WIDTH + 4);
