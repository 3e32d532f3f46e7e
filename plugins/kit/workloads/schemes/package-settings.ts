import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SchemeTarget } from './scheme-target.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings of package managers, by the name of their variable. */
export type PackageSettings = Readonly<Record<string, string | undefined>>;

/**
 * Reads variables, and the user's files `.npmrc`, `pip.conf` and `go/env`. Tokens in files are not read. An empty variable is none, as
 * for the package managers.
 */
export function packageSettings(scheme: SchemeTarget['scheme'], env: Environment): Promise<PackageSettings> {
  const home = env.HOME ?? homedir();
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  return { npx: npmSettings, uvx: pythonSettings, go: goSettings }[scheme](env, home, config);
}

async function npmSettings(env: Environment, home: string): Promise<PackageSettings> {
  const variable = Object.keys(env).find((name) => name.toLowerCase() === 'npm_config_registry');
  const file = await npmrc(env, home);
  return { NPM_CONFIG_REGISTRY: (variable === undefined ? undefined : env[variable]) || file.registry };
}

/** The registry of a package of npm: that of its scope in `.npmrc`, else the registry of the settings. */
export async function npmRegistryOf(name: string, env: Environment): Promise<string | undefined> {
  const home = env.HOME ?? homedir();
  const scope = name.startsWith('@')
    ? (await npmrc(env, home))[`${name.slice(0, name.indexOf('/'))}:registry`]
    : undefined;
  return scope ?? (await npmSettings(env, home)).NPM_CONFIG_REGISTRY;
}

function npmrc(env: Environment, home: string): Promise<Record<string, string>> {
  return readPairs(env.NPM_CONFIG_USERCONFIG || env.npm_config_userconfig || join(home, '.npmrc'));
}

async function pythonSettings(env: Environment, home: string, config: string) {
  const files = [env.PIP_CONFIG_FILE, join(config, 'pip/pip.conf'), join(home, '.pip/pip.conf'), '/etc/pip.conf'];
  const pip = Object.assign({}, ...(await Promise.all(files.map(readPairs))).reverse()) as Record<string, string>;
  const index = env.PIP_INDEX_URL || pip['index-url'];
  const main = env.UV_DEFAULT_INDEX || env.UV_INDEX_URL || index;
  const extra = env.PIP_EXTRA_INDEX_URL || pip['extra-index-url'];
  return {
    UV_DEFAULT_INDEX: main,
    UV_INDEX: env.UV_INDEX || env.UV_EXTRA_INDEX_URL || extra,
    PIP_INDEX_URL: index || main,
    PIP_EXTRA_INDEX_URL: extra,
  };
}

async function goSettings(env: Environment, _home: string, config: string) {
  const file = await readPairs(env.GOENV || join(config, 'go/env'));
  const names = ['GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GONOPROXY', 'GOPRIVATE', 'GOINSECURE'];
  return Object.fromEntries(names.map((name) => [name, env[name] || file[name]]));
}

/** Lines `key = value` of a file; none when it cannot be read. */
async function readPairs(file: string | undefined): Promise<Record<string, string>> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const read = /^\s*((?:@[\w.~-]+:)?[A-Za-z][A-Za-z-]*)\s*=\s*(\S+)\s*$/.exec(line);
      return read === null ? [] : [[read[1] ?? '', read[2] ?? ''] as const];
    }),
  );
}
