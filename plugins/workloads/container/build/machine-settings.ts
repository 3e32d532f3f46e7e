import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SchemeTarget } from '../../schemes/scheme-target.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings of this machine for downloads of a build. They are build arguments, which the image does not keep. */
export interface MachineSettings {
  /** Package registries, by the name of the build argument. */
  readonly registries: Readonly<Record<string, string>>;
  /** Proxies; engines know these build arguments by themselves. */
  readonly proxies: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** Reads variables, and the user's files `.npmrc`, `pip.conf` and `go/env`. Tokens in files are not read. */
export async function machineSettings(scheme: SchemeTarget['scheme'], env: Environment): Promise<MachineSettings> {
  const home = env.HOME ?? homedir();
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  const found = await { npx: npmSettings, uvx: pythonSettings, go: goSettings }[scheme](env, home, config);
  const warnings: string[] = [];
  const reachable = (settings: Readonly<Record<string, string | undefined>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(settings).flatMap(([name, value]) => {
        if (value === undefined || value === '' || CONTROL.test(value)) return [];
        if (!name.toUpperCase().startsWith('NO') && isLoopback(value)) {
          warnings.push(`${name} leads to this machine's loopback address, which a build cannot reach: it is not used`);
          return [];
        }
        return [[name, value] as const];
      }),
    );
  const names = PROXIES.flatMap((name) => [name, name.toLowerCase()]);
  const registries = reachable(found);
  const proxies = reachable(Object.fromEntries(names.map((name) => [name, env[name]])));
  return { registries, proxies, warnings };
}

async function npmSettings(env: Environment, home: string): Promise<Record<string, string | undefined>> {
  const variable = Object.keys(env).find((name) => name.toLowerCase() === 'npm_config_registry');
  const file = await readPairs(env.NPM_CONFIG_USERCONFIG ?? join(home, '.npmrc'));
  return { NPM_CONFIG_REGISTRY: (variable === undefined ? undefined : env[variable]) ?? file.registry };
}

async function pythonSettings(env: Environment, home: string, config: string) {
  const files = [env.PIP_CONFIG_FILE, join(config, 'pip/pip.conf'), join(home, '.pip/pip.conf'), '/etc/pip.conf'];
  const pip = Object.assign({}, ...(await Promise.all(files.map(readPairs))).reverse()) as Record<string, string>;
  const index = env.PIP_INDEX_URL ?? pip['index-url'];
  const main = env.UV_DEFAULT_INDEX ?? env.UV_INDEX_URL ?? index;
  const extra = env.PIP_EXTRA_INDEX_URL ?? pip['extra-index-url'];
  return {
    UV_DEFAULT_INDEX: main,
    UV_INDEX: env.UV_INDEX ?? env.UV_EXTRA_INDEX_URL ?? extra,
    PIP_INDEX_URL: index ?? main,
    PIP_EXTRA_INDEX_URL: extra,
  };
}

async function goSettings(env: Environment, _home: string, config: string) {
  const file = await readPairs(env.GOENV ?? join(config, 'go/env'));
  const names = ['GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GONOPROXY', 'GOPRIVATE', 'GOINSECURE'];
  return Object.fromEntries(names.map((name) => [name, env[name] ?? file[name]]));
}

/** Lines `key = value` of a file; none when it cannot be read. */
async function readPairs(file: string | undefined): Promise<Record<string, string>> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const read = /^\s*([A-Za-z][A-Za-z-]*)\s*=\s*(\S+)\s*$/.exec(line);
      return read === null ? [] : [[read[1] ?? '', read[2] ?? ''] as const];
    }),
  );
}

/** A setting without user name and password, for comparing and printing. */
export function withoutCredentials(value: string): string {
  return value.replace(/(\/\/)[^/@\s]*@/g, '$1***@');
}

/** The user names and passwords in settings, which must not be printed. */
export function credentialsIn(settings: readonly string[]): readonly string[] {
  return settings.flatMap((value) => [...value.matchAll(/\/\/([^/@\s]+)@/g)].flatMap((found) => found[1] ?? []));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
const CONTROL = /[\u0000-\u001f\u007f]/;

function isLoopback(value: string): boolean {
  return /^(?:[a-z0-9+]+:\/\/)?(?:[^/@]*@)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/i.test(value);
}
