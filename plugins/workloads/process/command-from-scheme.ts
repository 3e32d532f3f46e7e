import { findProgram } from './find-program.ts';
import { findInstalledBin } from './installed-bin.ts';

/** The command for a protocol scheme. */
export interface SchemeCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that the package runner needs in addition to the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The result of resolving a protocol scheme. */
export type SchemeOutcome =
  | {
      readonly kind: 'command';
      readonly command: SchemeCommand;
      readonly via: 'installed' | 'npx';
      readonly package: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** Where to look for packages and programs. */
export interface SchemeContext {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Turns `npx://pkg[@version]` and its arguments into a command; `undefined` when `target` has no scheme of this kind.
 *
 * An installed package (in a `node_modules` of `cwd`, of a folder above it, or beside toolmgr) runs with the current
 * Node, without wrapper and network. A given version must match exactly. Other packages run with `npx -y`. Schemes that need a
 * container are refused.
 */
export async function commandFromScheme(
  target: string,
  args: readonly string[],
  { cwd, env = process.env }: SchemeContext,
): Promise<SchemeOutcome | undefined> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(target);
  if (scheme === null) return undefined;
  const name = (scheme[1] ?? '').toLowerCase();
  if (name === 'http' || name === 'https') return undefined;
  if (name === 'npx') return npxCommand(scheme[2] ?? '', args, cwd, env);
  const reason = UNSUPPORTED_SCHEMES[name] ?? `the scheme ${name}:// is not known`;
  return { kind: 'refused', reason: `${target}: ${reason}. ${SUPPORTED_TARGETS}` };
}

const UNSUPPORTED_SCHEMES: Readonly<Record<string, string>> = {
  uvx: 'uvx:// is not available yet, it comes with container workloads',
  go: 'go:// is not available yet, it comes with container workloads',
};

/** Supported targets, for error texts. */
export const SUPPORTED_TARGETS =
  'What works today: npx://PACKAGE, an http(s) URL, or a local program with its arguments after --';

/** The package name and version of `npx://…`; `undefined` when it is invalid for the npm registry. */
export function packageFromNpx(text: string): { readonly name: string; readonly version?: string } | undefined {
  const read = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@([A-Za-z0-9^~<>=*.+ |_-]+))?$/i.exec(text);
  if (read?.[1] === undefined || read[1].startsWith('-')) return undefined;
  return { name: read[1], ...(read[2] === undefined ? {} : { version: read[2] }) };
}

async function npxCommand(
  text: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SchemeOutcome> {
  const wanted = packageFromNpx(text);
  if (wanted === undefined) {
    return { kind: 'refused', reason: `npx://${text}: expected npx://PACKAGE or npx://PACKAGE@VERSION` };
  }
  const bin = await findInstalledBin(wanted, [cwd, import.meta.dirname]);
  if (bin !== undefined) {
    const command = bin.byNode
      ? { file: process.execPath, args: [bin.path, ...args], env: {} }
      : { file: bin.path, args, env: {} };
    return { kind: 'command', command, via: 'installed', package: text };
  }
  const npx = await findProgram('npx', cwd, env.PATH ?? '');
  if (npx.kind !== 'found') {
    const reason = `npx://${text}: the package is not installed here and npx is not on PATH. Install npm, or npm install ${text}`;
    return { kind: 'refused', reason };
  }
  return {
    kind: 'command',
    command: { file: npx.path, args: ['-y', text, ...args], env: npmVariables(env) },
    via: 'npx',
    package: text,
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
