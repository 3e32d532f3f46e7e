import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import getPort from 'get-port';

/** A running Keycloak with one realm. */
export interface Keycloak extends AsyncDisposable {
  /** Issuer of the realm. */
  readonly issuer: string;
}

const START_MS = 180_000;
const LAST_OUTPUT = 4_000; // characters that an error shows

/** Starts the Keycloak of a rig with a database in memory, and imports a realm. */
export async function startKeycloak(
  folder: string,
  realm: Readonly<Record<string, unknown>> & { readonly realm: string },
): Promise<Keycloak> {
  const [port, health] = [await getPort({ host: '127.0.0.1' }), await getPort({ host: '127.0.0.1' })];
  const password = randomBytes(16).toString('hex');
  const program = spawn(
    'sh',
    [
      join(folder, 'server', 'bin', 'kc.sh'),
      'start',
      '--optimized',
      '--cache=local',
      '--http-enabled=true',
      '--hostname-strict=false',
      '--http-host=127.0.0.1',
      `--http-port=${port}`,
      `--http-management-port=${health}`,
    ],
    {
      detached: true, // the shell and Java are one group, which ends together
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        JAVA_OPTS_APPEND: '-Xmx400m',
        KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
        KC_BOOTSTRAP_ADMIN_PASSWORD: password,
      },
    },
  );
  let output = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-LAST_OUTPUT);
    });
  }
  const dispose = async (): Promise<void> => {
    if (program.exitCode !== null || program.signalCode !== null || program.pid === undefined) return;
    const ended = once(program, 'exit');
    process.kill(-program.pid, 'SIGKILL');
    await ended;
  };
  const origin = `http://127.0.0.1:${port}`;
  try {
    await ready(`http://127.0.0.1:${health}/health/ready`, () => program.exitCode !== null);
    await importRealm(origin, password, realm);
  } catch (cause) {
    await dispose();
    throw new Error(`Keycloak did not start\n${output}`, { cause });
  }
  return { issuer: `${origin}/realms/${realm.realm}`, [Symbol.asyncDispose]: dispose };
}

async function ready(url: string, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && !hasEnded()) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`${url} is not ready`);
}

async function importRealm(origin: string, password: string, realm: object): Promise<void> {
  const login = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: 'admin', password }),
  });
  const { access_token: token } = (await login.json()) as { readonly access_token?: string };
  const made = await fetch(`${origin}/admin/realms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(realm),
  });
  if (made.status !== 201) throw new Error(`the realm was refused: ${made.status} ${await made.text()}`);
}
