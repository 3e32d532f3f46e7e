import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { UsageError } from '../../shared/usage-error.ts';

/** Options that are not for the installed manager. */
const NOT_KEPT: ReadonlySet<string> = new Set(['--install', '--uninstall', '--status', '--open']);
const PATHS: ReadonlySet<string> = new Set(['--config', '--socket', '--oidc-client-secret-file']);

/** The options that the user gave, for the command line of the installed manager. Paths are made absolute. */
export function givenOptions(command: Command, cwd = process.cwd()): readonly string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    const { long } = option;
    if (typeof long !== 'string' || NOT_KEPT.has(long) || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    if (value === true) return [long];
    if (Array.isArray(value)) return option.variadic ? [long, ...value.map(String)] : [long, value.join(',')];
    return [long, PATHS.has(long) ? resolve(cwd, String(value)) : String(value)];
  });
}

/**
 * The command line of the installed manager.
 * @throws UsageError when the program is in a folder that npx removes
 */
export function managerCommand(options: readonly string[]): readonly string[] {
  // the executable knows its own program, whose place changes with its version
  if (isSea()) return [process.execPath, 'serve', ...options];
  const program = programFile();
  if (/[\\/]_npx[\\/]/.test(program)) {
    throw new UsageError(
      'toolmgr runs from the cache of npx, which is emptied from time to time: npm install --global toolmgr, then toolmgr serve --install',
    );
  }
  return [process.execPath, program, 'serve', ...options];
}

/** `bin/toolmgr.js`, which also runs in a checkout. */
function programFile(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const files = ['../../bin/toolmgr.js', '../../../bin/toolmgr.js'].map((path) => join(here, path));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new TypeError(`there is no ${files.join(' or ')}`);
  return found;
}

/** Variables that say where things are. Others, which may hold secrets, are not kept. */
const KEPT = [
  'PATH',
  'TOOLMGR_STATE_DIR',
  'TOOLMGR_RUNTIME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'DOCKER_HOST',
  'DOCKER_CONFIG',
  'TOOLMGR_DOCKER_SOCKET',
  'TOOLMGR_PODMAN_SOCKET',
  'NODE_EXTRA_CA_CERTS',
] as const;

/** The variables of this process that the installed manager gets. */
export function keptVariables(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    KEPT.flatMap((name) => {
      const value = env[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
