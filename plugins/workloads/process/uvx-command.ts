import { type PythonPackage, requirementText } from '@toolmgr/plugins/kit/workloads/schemes';
import { findProgram } from './find-program.ts';
import type { SchemeOutcome } from './scheme-outcome.ts';

/** The command for `uvx://PACKAGE`: `uvx`, or `uv tool run` where only `uv` is there. */
export async function uvxCommand(
  target: PythonPackage,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SchemeOutcome> {
  const { name, extras, version } = target;
  const isPlain = extras.length === 0 && version === undefined;
  const what = isPlain ? [name] : ['--from', requirementText(target), name];
  const uvx = await findProgram('uvx', cwd, env.PATH ?? '');
  if (uvx.kind === 'found') return command(uvx.path, [...what, ...args]);
  const uv = await findProgram('uv', cwd, env.PATH ?? '');
  if (uv.kind === 'found') return command(uv.path, ['tool', 'run', ...what, ...args]);
  const reason = `uvx://${requirementText(target)}: uvx is not on PATH. Install uv (https://docs.astral.sh/uv/, or pip install uv)`;
  return { kind: 'refused', reason };
}

function command(file: string, args: readonly string[]): SchemeOutcome {
  // settings of uv are inherited by every program
  return { kind: 'command', command: { file, args, env: {} }, via: 'uvx' };
}
