import { readScheme, type SchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { findProgram } from './find-program.ts';
import { goCommand } from './go-command.ts';
import { findInstalledBin } from './installed-bin.ts';
import type { SchemeOutcome } from './scheme-outcome.ts';
import { uvxCommand } from './uvx-command.ts';

/** Where to look for packages and programs. */
export interface SchemeContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Turns `npx://`, `uvx://` or `go://` and its arguments into a command; `undefined` when `target` has no scheme of this kind.
 *
 * An installed npm package (in a `node_modules` of `cwd`, of a folder above it, or beside toolmgr) runs with the current
 * Node, without wrapper and network; a given version must match exactly. Other packages run with `npx -y`, `uvx` or `go run`.
 * A Go folder is built into the user's cache. Nothing isolates such a command.
 */
export async function commandFromScheme(
  text: string,
  args: readonly string[],
  { cwd, env }: SchemeContext,
): Promise<SchemeOutcome | undefined> {
  const read = readScheme(text);
  if (read === undefined || read.kind === 'refused') return read;
  const { target } = read;
  if (target.scheme === 'uvx') return uvxCommand(target, args, cwd, env);
  if (target.scheme === 'go') return goCommand(target, args, cwd, env);
  return npxCommand(target, args, cwd, env);
}

async function npxCommand(
  { name, version }: Extract<SchemeTarget, { scheme: 'npx' }>,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SchemeOutcome> {
  const wanted = { name, ...(version === undefined ? {} : { version }) };
  const bin = await findInstalledBin(wanted, [cwd, import.meta.dirname]);
  if (bin !== undefined) {
    const command = bin.byNode
      ? { file: process.execPath, args: [bin.path, ...args], env: {} }
      : { file: bin.path, args, env: {} };
    return { kind: 'command', command, via: 'installed' };
  }
  const text = version === undefined ? name : `${name}@${version}`;
  const npx = await findProgram('npx', cwd, env.PATH ?? '');
  if (npx.kind !== 'found') {
    const reason = `npx://${text}: the package is not installed here and npx is not on PATH. Install npm, or npm install ${text}`;
    return { kind: 'refused', reason };
  }
  return {
    kind: 'command',
    command: { file: npx.path, args: ['-y', text, ...args], env: npmVariables(env) },
    via: 'npx',
  };
}

/** npm settings that some networks require. None of them contains a credential. */
function npmVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && NPM_VARIABLES.has(name.toLowerCase()) ? [[name, value] as const] : [],
    ),
  );
}

const NPM_VARIABLES = new Set([
  'npm_config_registry',
  'npm_config_cache',
  'npm_config_cafile',
  'npm_config_offline',
  'npm_config_prefer_offline',
  'npm_config_userconfig',
  'node_extra_ca_certs',
  'no_proxy',
]);
