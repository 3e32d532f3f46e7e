import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** How the program was started. */
export interface StartedAs {
  readonly cwd: string;
  /** Path of the program and its arguments, as `process.argv.slice(1)`. */
  readonly argv: readonly string[];
}

/**
 * The command that installs packages where `importer` finds them. It depends on how the program was installed: globally, in a
 * project, for one run (npx, pnpm dlx), or from a clone, and by which of npm, pnpm, Yarn and Bun.
 *
 * @param packages such as `ioredis@6`
 * @param importer absolute path of the file that imports them
 */
export function installCommand(
  packages: readonly string[],
  importer: string,
  { cwd, argv }: StartedAs = { cwd: process.cwd(), argv: process.argv.slice(1) },
): string {
  const isLinked = SHARED_STORE.test(importer);
  const place = isLinked ? (argv[0] ?? importer) : importer;
  const at = place.search(MODULES);
  if (at < 0) return inFolder('npm', cloneAbove(place) ?? cwd, cwd, packages);
  const root = place.slice(0, at);
  const manifest = manifestIn(root);
  if (basename(dirname(root)) === '_npx') {
    const wanted = [...(manifest?._npx?.packages ?? ['toolmgr']), ...packages];
    return ['npx', ...wanted.map((name) => `-p ${quoted(name)}`), ...again(argv)].join(' ');
  }
  if (basename(dirname(dirname(root))) === 'dlx')
    return ['pnpm', ...['toolmgr', ...packages].map((name) => `--package=${name}`), 'dlx', ...again(argv)].join(' ');
  if (manifest === undefined) return ['npm install -g', ...prefixFlag(root), ...packages].join(' ');
  const isOfPnpm = isLinked || /[\\/]\.pnpm[\\/]/.test(importer) || existsSync(join(root, 'pnpm-lock.yaml'));
  if (isOfPnpm) return withPnpm(root, manifest, cwd, packages);
  if (/[\\/]yarn[\\/](Data[\\/])?global$/i.test(root)) return ['yarn global add', ...packages].join(' ');
  if (/[\\/]\.bun[\\/]install[\\/]global$/.test(root)) return ['bun add -g', ...packages].join(' ');
  return inFolder(programOf(root), root, cwd, packages);
}

/** The folder of packages of a project. The one of the global packages of pnpm 10 has `.pnpm` beside `node_modules`. */
const MODULES = /[\\/](?:node_modules|\.pnpm)[\\/]/;
/** The store of pnpm from which it links packages into all projects. */
const SHARED_STORE = /[\\/]store[\\/]v\d+[\\/]links[\\/]/;

/** pnpm 10 has one folder for all global packages; since pnpm 11 each command makes one, for the packages that commas join. */
function withPnpm(root: string, manifest: Manifest, cwd: string, packages: readonly string[]): string {
  if (/[\\/]global[\\/]\d+$/.test(root)) return [PNPM_GLOBAL, ...packages].join(' ');
  if (!/[\\/]global[\\/]v\d+[\\/][^\\/]+$/.test(root)) return inFolder('pnpm', root, cwd, packages);
  const isNew = (name: string): boolean => !packages.some((wanted) => wanted.startsWith(`${name}@`));
  const kept = Object.entries(manifest.dependencies ?? {}).filter(([name]) => isNew(name));
  const group = [...kept.map(([name, spec]) => (/^\w+:/.test(spec) ? spec : `${name}@${spec}`)), ...packages];
  return `${PNPM_GLOBAL} ${quoted(group.join(','))}`;
}

/** None of the optional packages needs its scripts, and pnpm 11 and newer fail when the project has not allowed a script. */
const PNPM_ADD = 'add --ignore-scripts';
const PNPM_GLOBAL = `pnpm ${PNPM_ADD} -g`;

type Program = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** Adds to the dependencies of a folder, from anywhere. */
function inFolder(program: Program, root: string, cwd: string, packages: readonly string[]): string {
  const isHere = cwd === root || cwd.startsWith(root + sep);
  const { folder, add } = COMMANDS[program];
  const words = isHere ? [program, add] : folder(quoted(root), add);
  return [...words, ...packages].join(' ');
}

const COMMANDS: Readonly<
  Record<Program, { readonly add: string; folder(root: string, add: string): readonly string[] }>
> = {
  npm: { add: 'install', folder: (root, add) => ['npm', add, '--prefix', root] },
  pnpm: { add: PNPM_ADD, folder: (root, add) => ['pnpm', '--dir', root, add] },
  yarn: { add: 'add', folder: (root, add) => ['yarn', '--cwd', root, add] },
  bun: { add: 'add', folder: (root, add) => ['bun', add, '--cwd', root] },
};

/** The program whose lock file a project has. */
function programOf(root: string): Program {
  const found = LOCK_FILES.find(([file]) => existsSync(join(root, file)));
  return found?.[1] ?? 'npm';
}

const LOCK_FILES: readonly (readonly [string, Program])[] = [
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

/** The folder of the package.json with the lock file: a clone, whose workspaces have none. */
function cloneAbove(file: string): string | undefined {
  for (let at = dirname(file), up = dirname(at); at !== up; at = up, up = dirname(at)) {
    if (existsSync(join(at, 'package-lock.json'))) return at;
  }
  return undefined;
}

/** The same program once more: its commands; other arguments may be private. */
function again(argv: readonly string[]): readonly string[] {
  const args = argv.slice(1);
  const end = args.findIndex((word, index) => index > 1 || !/^[a-z][a-z-]*$/.test(word));
  return ['toolmgr', ...(end < 0 ? args : [...args.slice(0, end), '…'])];
}

/** The parts of a package.json that are read here; npm notes in `_npx` what npx was asked for. */
interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly _npx?: { readonly packages?: readonly string[] };
}

function manifestIn(root: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** The flag that names the folder of global packages, unless it is the one of the running Node. */
function prefixFlag(root: string): readonly string[] {
  const prefix = basename(root) === 'lib' ? dirname(root) : root;
  const own = process.platform === 'win32' ? dirname(process.execPath) : dirname(dirname(process.execPath));
  return prefix === own ? [] : [`--prefix ${quoted(prefix)}`];
}

function quoted(text: string): string {
  return /^[\w./:\\@^~,-]+$/.test(text) ? text : JSON.stringify(text);
}
