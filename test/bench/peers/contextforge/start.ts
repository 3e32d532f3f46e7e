import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { BACKEND_URLS } from '../backend-urls.ts';
import type { Environment, Peer } from '../peer.ts';

const REGISTER_MS = 30_000;

/** It has no configuration file: variables set it up, and backends are registered over its API. */
export const contextforge: Peer = {
  language: 'Python',
  version: '1.0.7',
  source: 'https://github.com/IBM/mcp-context-forge',
  settings:
    'One uvicorn process, SQLite, metrics of calls in the database (default); no authentication at /mcp, no rate limit (default: 100 requests a minute), errors only in the log',
  install: [
    ['python3', '-m', 'venv', '{home}'],
    ['{home}/bin/pip', 'install', '--quiet', '--no-input', '-r', '{files}/requirements.txt'],
  ],
  start: ['{home}/bin/mcpgateway', '--host', '127.0.0.1', '--port', '{port}'],
  path: '/mcp/',
  ports: { one: 4504, three: 4514 },
  environment: () => ({ ...settings(), ...secrets() }),
  async register({ home, origin, backends, environment }) {
    const authorization = `Bearer ${await adminToken(home, environment)}`;
    for (const [name, url] of Object.entries(BACKEND_URLS[backends])) {
      const response = await fetch(`${origin}/gateways`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ name, url, transport: 'STREAMABLEHTTP', visibility: 'public' }),
        signal: AbortSignal.timeout(REGISTER_MS),
      });
      if (!response.ok) throw new Error(`contextforge refused ${url}: ${response.status} ${await response.text()}`);
    }
  },
};

function settings(): Environment {
  return parseEnv(readFileSync(join(import.meta.dirname, 'settings.env'), 'utf8')) as Record<string, string>;
}

/** It does not start without them, and refuses simple ones. */
function secrets(): Environment {
  const names = [
    'JWT_SECRET_KEY',
    'AUTH_ENCRYPTION_SECRET',
    'BASIC_AUTH_PASSWORD',
    'PLATFORM_ADMIN_PASSWORD',
    'DEFAULT_USER_PASSWORD',
  ];
  return Object.fromEntries(names.map((name) => [name, randomBytes(36).toString('base64')]));
}

async function adminToken(home: string, environment: Environment): Promise<string> {
  const flags = ['--username', 'admin@example.com', '--admin', '--exp', '60'];
  const { stdout } = await promisify(execFile)(
    join(home, 'bin', 'python'),
    ['-m', 'mcpgateway.utils.create_jwt_token', ...flags],
    { env: { ...process.env, ...environment }, timeout: REGISTER_MS },
  );
  return stdout.trim().split('\n').at(-1) ?? '';
}
