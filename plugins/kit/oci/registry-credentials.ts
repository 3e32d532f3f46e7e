import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject, parsedJson } from '@toolmgr/core';

/** A login at an image registry. */
export interface RegistryCredentials {
  readonly user: string;
  readonly password: string;
}

const HELPER_MS = 10_000;
const HELPER_BYTES = 64 * 1024;

/**
 * The login for a registry from the files of `docker login` and `podman login`, or from their credential helper; `undefined` without
 * one.
 *
 * Source: Docker CLI, `config.json` (auths, credHelpers, credsStore); containers-auth.json(5).
 */
export async function registryCredentials(
  registry: string,
  env: NodeJS.ProcessEnv,
): Promise<RegistryCredentials | undefined> {
  const key = registry === 'docker.io' ? 'https://index.docker.io/v1/' : registry;
  for (const path of filesOf(env)) {
    const config = await readConfig(path);
    const helpers = isObject(config.credHelpers) ? config.credHelpers : {};
    const helper = Object.hasOwn(helpers, key) ? helpers[key] : config.credsStore;
    const found =
      typeof helper === 'string' && /^[A-Za-z0-9._-]+$/.test(helper)
        ? await askHelper(`docker-credential-${helper}`, key, env)
        : loginIn(config, [key, registry, `https://${registry}`]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function filesOf(env: NodeJS.ProcessEnv): readonly string[] {
  const home = env.HOME ?? homedir();
  return [
    join(env.DOCKER_CONFIG ?? join(home, '.docker'), 'config.json'),
    ...(env.REGISTRY_AUTH_FILE ? [env.REGISTRY_AUTH_FILE] : []),
    ...(env.XDG_RUNTIME_DIR ? [join(env.XDG_RUNTIME_DIR, 'containers/auth.json')] : []),
  ];
}

async function readConfig(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = parsedJson(await readFile(path).catch(() => ''));
  return isObject(value) ? value : {}; // public images need no login
}

function loginIn(
  { auths }: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): RegistryCredentials | undefined {
  if (!isObject(auths)) return undefined;
  const entry = keys.map((key) => (Object.hasOwn(auths, key) ? auths[key] : undefined)).find(isObject);
  if (entry === undefined || typeof entry.auth !== 'string') return undefined;
  const text = Buffer.from(entry.auth, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Asks a credential helper over stdin, so that no name becomes an argument. */
function askHelper(program: string, key: string, env: NodeJS.ProcessEnv): Promise<RegistryCredentials | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, ['get'], { env, stdio: ['pipe', 'pipe', 'ignore'], timeout: HELPER_MS });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      if (out.length < HELPER_BYTES) out += part;
    });
    child.stdin.on('error', () => undefined); // it may end before it reads
    child.once('error', () => resolve(undefined));
    child.once('close', (code) => resolve(code === 0 ? loginOf(out) : undefined));
    child.stdin.end(key);
  });
}

function loginOf(text: string): RegistryCredentials | undefined {
  const value = parsedJson(text);
  if (!isObject(value) || typeof value.Username !== 'string' || typeof value.Secret !== 'string') return undefined;
  // `<token>` is an identity token, which is no password
  return value.Username === '<token>' ? undefined : { user: value.Username, password: value.Secret };
}
