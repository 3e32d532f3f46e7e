import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';

/** Values for the variables of a client file. */
export interface ExpansionContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The project folder: `${workspaceFolder}` and the base of relative paths. */
  readonly folder: string;
}

/** A server of a client file cannot be served, e.g. because a variable is not set; the message says why. */
export class UnusableServer extends Error {}

/**
 * Expands the variables that clients know: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}`,
 * `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}` and `${/}`. Other text is unchanged.
 * @throws UnusableServer when a variable is not set, or only an editor knows it: `${input:…}`, `${config:…}`, `${command:…}`, `${file:…}`
 */
export function expand(text: string, { env, home, folder }: ExpansionContext): string {
  return text.replace(/\$\{([^${}]+)\}/g, (whole, inner: string) => {
    const known: Readonly<Record<string, string>> = {
      workspaceFolder: folder,
      workspaceFolderBasename: folder.split(/[\\/]/).findLast((part) => part !== '') ?? '',
      userHome: home,
      pathSeparator: process.platform === 'win32' ? '\\' : '/',
      '/': process.platform === 'win32' ? '\\' : '/',
    };
    if (Object.hasOwn(known, inner)) return known[inner] ?? '';
    if (inner.startsWith('input:')) {
      throw new UnusableServer(
        `${whole} needs an editor that prompts for it; write \${env:NAME} instead and export NAME`,
      );
    }
    if (OF_EDITORS.test(inner)) {
      throw new UnusableServer(`${whole} is not supported here; write \${env:NAME} instead and export NAME`);
    }
    const [, name = '', fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/.exec(inner) ?? [];
    if (name === '') return whole;
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    if (fallback !== undefined) return fallback;
    throw new UnusableServer(`the environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}`);
  });
}

/** Settings and commands of VS Code, and files that Windsurf reads. */
const OF_EDITORS = /^(?:config|command|file):/;

/**
 * What the variables of a file stand for in this process. Relative paths are relative to the project: the folder above `.vscode`, `.cursor` and
 * the like, and for user files the current one.
 */
export function expansionContext(file: string): ExpansionContext {
  const folder = dirname(resolve(file));
  const isInside = /[\\/]\.(vscode|cursor|zed|codex)$/.test(folder);
  const isOfClaude = basename(file) === '.claude.json';
  const project = isOfClaude ? process.cwd() : isInside ? dirname(folder) : folder;
  return { env: process.env, home: homedir(), folder: project };
}
