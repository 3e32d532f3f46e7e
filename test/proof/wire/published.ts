import { spawn } from 'node:child_process';
import { join } from 'node:path';
import getPort from 'get-port';
import { until } from '../../support/until.ts';
import type { Program } from './wire-peer.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A published reference server as a program of this Node. */
export function published(
  name: 'everything' | 'filesystem' | 'memory',
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Program {
  const main = join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
  return { file: process.execPath, args: [main, ...args], env };
}

/** A program that listens. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
}

/** The Everything server over streamable HTTP; it takes no port 0, so a free one is found first. */
export async function everythingOverHttp(): Promise<Listening> {
  const port = await getPort({ host: '127.0.0.1' });
  const { file, args } = published('everything', ['streamableHttp']);
  return listening({ file, args, env: { PORT: `${port}` } }, port);
}

/** Starts a program and waits until its port answers. */
export async function listening({ file, args, env }: Program, port: number): Promise<Listening> {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const origin = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(`${origin}/nothing`).then(
      () => true,
      () => false,
    );
  await until(answers, 30_000);
  return {
    url: `${origin}/mcp`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
