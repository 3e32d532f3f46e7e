import { findProgram } from './find-program.ts';
import { findInstalledBin } from './installed-bin.ts';

/** A program to start in place of a protocol scheme. */
export interface SchemeCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that the package runner needs beside the minimal environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a protocol scheme stands for here. */
export type SchemeOutcome =
  | {
      readonly kind: 'command';
      readonly command: SchemeCommand;
      readonly via: 'installed' | 'npx';
      readonly package: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** Where to look. */
export interface SchemeSurroundings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Turns `npx://pkg[@version]` and its arguments into a command; `undefined` when `target` has no scheme of this kind.
 *
 * An installed package (in a `node_modules` of `cwd`, of a folder above it, or beside toolmgr) is run by its bin with
 * the current Node: no wrapper, no network. With a version it must be exactly that one. Anything else runs by
 * `npx -y`. Schemes that need a container are refused with a sentence.
 */
export async function commandFromScheme(
  target: string,
  args: readonly string[],
  { cwd, env = process.env }: SchemeSurroundings,
): Promise<SchemeOutcome | undefined> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(target);
  if (scheme === null) return undefined;
  const name = (scheme[1] ?? '').toLowerCase();
  if (name === 'http' || name === 'https') return undefined;
  if (name === 'npx') return npxCommand(scheme[2] ?? '', args, cwd, env);
  const reason = SCHEMES_TO_COME[name] ?? `the scheme ${name}:// is not known`;
  return { kind: 'refused', reason: `${target}: ${reason}. ${WHAT_WORKS}` };
}

const SCHEMES_TO_COME: Readonly<Record<string, string>> = {
  uvx: 'uvx:// is not available yet, it comes with container workloads',
  go: 'go:// is not available yet, it comes with container workloads',
};

/** What can be run today, as a sentence for refusals. */
export const WHAT_WORKS =
  'What works today: npx://PACKAGE, an http(s) URL, or a local program with its arguments after --';

/** The package name and version of `npx://…`, or why it is none. Names as the npm registry allows them. */
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

/** Settings without which npm cannot reach its registry in some networks. None of them carries a credential. */
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
