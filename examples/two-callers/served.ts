import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const START_MS = 60_000;
const STOP_MS = 15_000;

/** A running `toolmgr vmcp serve` process. */
export interface Served extends AsyncDisposable {
  readonly endpoint: URL;
  /** Stops it and waits for its end; then the audit file is complete. Rejects on an exit code other than 0. */
  stop(): Promise<void>;
}

/** Where to listen (0: any free port), and variables with secrets. */
export interface ServeOptions {
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Serves a vmcp file from the sources of this repository. */
export async function serve(file: string, { port = 0, env = {} }: ServeOptions = {}): Promise<Served> {
  const argv = [
    '--conditions=development',
    join(ROOT, 'hosts', 'cli', 'main.ts'),
    'vmcp',
    'serve',
    '-c',
    file,
    '--port',
    String(port),
  ];
  const PATH = [join(ROOT, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const gateway = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, PATH, NO_COLOR: '1' },
  });
  const ended = once(gateway, 'exit').then(([code]) => code as number | null);
  let output = '';
  const endpoint = await new Promise<URL>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the gateway did not serve in time:\n${output}`)), START_MS);
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const [, url] = /serves (http:\S+)/.exec(output) ?? [];
      if (url === undefined) return;
      clearTimeout(late);
      resolve(new URL(url));
    };
    gateway.stdout.on('data', read);
    gateway.stderr.on('data', read);
    gateway.once('error', reject);
    void ended.then((code) => reject(new Error(`the gateway ended with ${code}:\n${output}`)));
  });
  const stop = async (): Promise<void> => {
    gateway.kill('SIGTERM');
    const cut = setTimeout(() => gateway.kill('SIGKILL'), STOP_MS);
    const code = await ended;
    clearTimeout(cut);
    if (code !== 0) throw new Error(`the gateway ended with ${code}:\n${output}`);
  };
  return { endpoint, stop, [Symbol.asyncDispose]: () => (gateway.exitCode === null ? stop() : Promise.resolve()) };
}
