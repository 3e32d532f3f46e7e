import { execFile, spawnSync } from 'node:child_process';

const BUILD_MINUTES = 60; // a Kubernetes API server takes 7 on two quiet cores, and many times that on a busy machine
const MAX_OUTPUT = 16 * 1024 * 1024; // bytes
const SHOWN = 2_000; // last characters of the output of a failed tool

/**
 * Runs a build tool and resolves with its output.
 * @throws Error with the end of its output when it fails, or that it took longer than {@link BUILD_MINUTES}
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
      {
        cwd: options.cwd,
        env: { ...process.env, ...options.env },
        timeout: BUILD_MINUTES * 60_000,
        maxBuffer: MAX_OUTPUT,
      },
      (failed, out, err) => {
        if (failed === null) return resolve(out);
        const how = failed.killed === true ? `took longer than ${BUILD_MINUTES} minutes and was ended` : 'failed';
        reject(new Error(`${file} ${args.slice(0, 3).join(' ')} ${how}\n${`${out}${err}`.slice(-SHOWN)}`));
      },
    );
  });
}

/** Whether a program can be started. */
export function isInstalled(program: string, flag = '--version'): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).status === 0;
}
