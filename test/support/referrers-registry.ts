import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The registry of go-containerregistry, which has the referrers API, and its client crane. */
export interface ReferrersRegistry extends AsyncDisposable {
  /** `127.0.0.1:PORT`, for references. */
  readonly host: string;
  /** Runs crane; returns what it prints. */
  crane(...args: readonly string[]): Promise<string>;
}

/** Starts the rig in a folder from `rig('oci')`. */
export async function startReferrersRegistry(folder: string): Promise<ReferrersRegistry> {
  const child = spawn(join(folder, 'registry'), { stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const [host] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    host,
    async crane(...args) {
      const { stdout } = await run(join(folder, 'crane'), ['--insecure', ...args], { timeout: 60_000 });
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', kill);
      const gone = once(child, 'exit');
      kill();
      await gone;
    },
  };
}
