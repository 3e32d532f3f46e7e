import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/**
 * The command that installs packages where `importer` finds them. It depends on how the program was installed: with
 * `npm install -g`, in a project, by npx, or from a clone.
 *
 * @param packages such as `ioredis@6`
 * @param importer absolute path of the file that imports them
 */
export function installCommand(packages: readonly string[], importer: string, cwd = process.cwd()): string {
  const at = importer.indexOf(`${sep}node_modules${sep}`);
  if (at < 0) return `npm install ${packages.join(' ')}`;
  const root = importer.slice(0, at);
  if (basename(dirname(root)) === '_npx') {
    return `npx ${['toolmgr', ...packages].map((name) => `-p ${name}`).join(' ')} toolmgr …`;
  }
  const isProject = existsSync(join(root, 'package.json'));
  if (!isProject) return ['npm install -g', ...prefixFlag(root), ...packages].join(' ');
  const program = importer.includes(`${sep}.pnpm${sep}`) ? 'pnpm add' : 'npm install';
  const isHere = cwd === root || cwd.startsWith(root + sep);
  return [program, ...(isHere ? [] : [`--prefix ${quoted(root)}`]), ...packages].join(' ');
}

/** The flag that names the folder of global packages, unless it is the one of the running Node. */
function prefixFlag(root: string): readonly string[] {
  const prefix = basename(root) === 'lib' ? dirname(root) : root;
  const own = process.platform === 'win32' ? dirname(process.execPath) : dirname(dirname(process.execPath));
  return prefix === own ? [] : [`--prefix ${quoted(prefix)}`];
}

function quoted(path: string): string {
  return /^[\w./:\\@-]+$/.test(path) ? path : JSON.stringify(path);
}
