/** What variables in a client file may stand for. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The project folder: `${workspaceFolder}`, and where relative paths begin. */
  readonly folder: string;
}

/** A variable that cannot be filled in; the message names it. */
export class Unfilled extends Error {}

/**
 * Fills in the variables that clients know: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${workspaceFolder}`,
 * `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}` and `${/}`. What looks otherwise stays as it is.
 * @throws Unfilled when a variable is not set, or only an editor can ask for it (`${input:…}`)
 */
export function expand(text: string, { env, home, folder }: Surroundings): string {
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
      throw new Unfilled(`${whole} is asked for by an editor; write \${env:NAME} instead and export NAME`);
    }
    const [, name = '', fallback] = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/.exec(inner) ?? [];
    if (name === '') return whole;
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    if (fallback !== undefined) return fallback;
    throw new Unfilled(`the environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}`);
  });
}
