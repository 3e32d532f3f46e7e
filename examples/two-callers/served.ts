import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const START_MS = 60_000;
const STOP_MS = 15_000;

/** `toolmgr vmcp serve` as a process of its own. */
export interface Served extends AsyncDisposable {
  readonly endpoint: URL;
  /** Asks it to end and waits until it has: then the audit file is whole. Rejects when it does not end well. */
  stop(): Promise<void>;
}

/** Serves a vmcp file on a free port, from the sources of this repository. */
export async function serve(file: string): Promise<Served> {
  const argv = [
    '--conditions=development',
    join(ROOT, 'hosts', 'cli', 'main.ts'),
    'vmcp',
    'serve',
    '-c',
    file,
    '--port',
    '0',
  ];
  const PATH = [join(ROOT, 'node_modules', '.bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const gateway = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH, NO_COLOR: '1' },
  });
  const ended = once(gateway, 'exit').then(([code]) => code as number | null);
  let said = '';
  const endpoint = await new Promise<URL>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the gateway did not serve in time:\n${said}`)), START_MS);
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const [, url] = /serves (http:\S+)/.exec(said) ?? [];
      if (url === undefined) return;
      clearTimeout(late);
      resolve(new URL(url));
    };
    gateway.stdout.on('data', hear);
    gateway.stderr.on('data', hear);
    gateway.once('error', reject);
    void ended.then((code) => reject(new Error(`the gateway ended with ${code}:\n${said}`)));
  });
  const stop = async (): Promise<void> => {
    gateway.kill('SIGTERM');
    const cut = setTimeout(() => gateway.kill('SIGKILL'), STOP_MS);
    const code = await ended;
    clearTimeout(cut);
    if (code !== 0) throw new Error(`the gateway ended with ${code}:\n${said}`);
  };
  return { endpoint, stop, [Symbol.asyncDispose]: () => (gateway.exitCode === null ? stop() : Promise.resolve()) };
}
