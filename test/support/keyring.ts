import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why no keyring can be started on this machine; `undefined` when one can. In CI its absence is a fault. */
export function keyringAbsence(): string | undefined {
  const missing = ['gnome-keyring-daemon', 'dbus-run-session'].filter(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  if (missing.length === 0) return undefined;
  if (process.env.CI) throw new Error(`not installed: ${missing.join(', ')}`);
  return `not installed: ${missing.join(', ')}`;
}

/** Result of a program in a session. */
export interface InSession {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a shell script in a new D-Bus session with an unlocked GNOME keyring and a home of its own. The arguments are `$1`, `$2`, …
 * The session and its keyring end with the script.
 */
export async function withKeyring(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<InSession> {
  const home = await mkdtemp(join(tmpdir(), 'toolmgr-keyring-'));
  const unlock = 'printf test | gnome-keyring-daemon --unlock --components=secrets >/dev/null';
  try {
    const child = spawn('dbus-run-session', ['--', 'sh', '-c', `${unlock}; ${script}`, 'sh', ...args], {
      env: { PATH: process.env.PATH, NO_COLOR: '1', HOME: home, XDG_RUNTIME_DIR: home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const [code] = await once(child, 'exit');
    return { code: code as number | null, out, err };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
