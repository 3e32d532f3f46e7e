import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stderr } from '../../shared/terminal.ts';

/**
 * Runs `act` for each name, at most `atOnce` at a time. A returned sentence is printed as a failure; the others still
 * run.
 */
export async function forEachName(
  names: readonly string[],
  act: (name: string) => Promise<string | undefined | void>,
  atOnce = 1,
): Promise<void> {
  if (names.length === 0) stderr.line('no workloads');
  const left = [...names];
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const problem = await act(name);
      if (problem === undefined) continue;
      stderr.line(`${stderr.red('toolmgr:')} ${problem}`);
      process.exitCode = EXIT_CODES.failed.code;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
