import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { rigFolder } from '../rigs/rig-folder.ts';

const READY_MS = 60_000;

/** A registry of npm packages on this machine. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
  /** A file for `--userconfig`, with which npm may publish there. */
  readonly userConfig: string;
}

/** Starts an empty registry, which asks no other one. Everyone on this machine may publish while it runs. */
export async function startLocalRegistry(): Promise<LocalRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-registry-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  mkdirSync(join(folder, 'storage'));
  const config = {
    storage: join(folder, 'storage'),
    packages: { '**': { access: '$all', publish: '$all' } },
    uplinks: {},
    max_body_size: '100mb',
    web: { enable: false },
    log: { type: 'stdout', level: 'error' },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const userConfig = join(folder, 'npmrc');
  writeFileSync(userConfig, `//127.0.0.1:${port}/:_authToken=local\n`, { mode: 0o600 });
  const program = join(rigFolder('packaging'), 'node_modules', 'verdaccio', 'bin', 'verdaccio');
  const args = [program, '--config', join(folder, 'config.json'), '--listen', `127.0.0.1:${port}`];
  const child = spawn(process.execPath, args, { stdio: 'ignore', cwd: folder });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await answers(url, child);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url, userConfig, [Symbol.asyncDispose]: stop };
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (const end = Date.now() + READY_MS; Date.now() < end; await delay(100)) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const ping = await fetch(`${url}-/ping`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    if (ping?.ok === true) return;
  }
  throw new Error('the local registry did not start');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
