import { execFile, spawnSync } from 'node:child_process';

const BUILD_MS = 900_000; // a cold Rust build on a busy machine takes minutes
const MAX_OUTPUT = 16 * 1024 * 1024; // bytes
const SHOWN = 2_000; // last characters of the output of a failed tool

/**
 * Runs a build tool and resolves with its output.
 * @throws Error with the end of its output when it fails or takes longer than 15 minutes
 */
export function runTool(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      { cwd: options.cwd, env: { ...process.env, ...options.env }, timeout: BUILD_MS, maxBuffer: MAX_OUTPUT },
      (failed, out, err) => {
        if (failed === null) return resolve(out);
        reject(new Error(`${file} ${args.slice(0, 3).join(' ')} failed\n${`${out}${err}`.slice(-SHOWN)}`));
      },
    );
  });
}

/** Whether a program can be started. */
export function isInstalled(program: string, flag = '--version'): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).status === 0;
}
