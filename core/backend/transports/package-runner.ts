import { basename, join } from 'node:path';
import type { Command } from '../../contract/backend.ts';

/** A program that downloads packages before it runs one of them. */
export interface PackageRun {
  readonly runner: string;
  /** Names without versions, sorted. */
  readonly packages: readonly string[];
  /** Installation folder of the runner. */
  readonly cache: string;
}

/** How to parse the command line of one runner. */
interface Runner {
  /** Words between the program and its options, e.g. `tool run`. */
  readonly words: readonly string[];
  /** Options that name a package. */
  readonly packageOptions: readonly string[];
  /** Other options with a value. */
  readonly valueOptions: readonly string[];
  cache(env: Env): string;
  /** What it writes to stderr when its registry has no such package. */
  readonly absent: RegExp;
  /** The same for a version of a package that is there. */
  readonly absentVersion: RegExp;
  /** The package that it then names. */
  readonly named?: RegExp;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Which packages a command installs and where: `npx`, `npm exec`, `uvx`, `uv tool run`, `pnpm dlx`, `bunx` and others,
 * also after `cmd /c`. `undefined` for any other program.
 *
 * Shape: `env` is the environment of the program. An unknown option counts as one without a value; then the package may
 * be wrong, which only means that two runs of the same package are not recognized.
 */
export function packageRunOf(command: Pick<Command, 'file' | 'args'>, env: Env): PackageRun | undefined {
  const found = findRunner(command);
  if (found === undefined) return undefined;
  const { program, runner, packages } = found;
  return { runner: [program, ...runner.words].join(' '), packages, cache: runner.cache(env) };
}

/**
 * That the registry of a runner does not have the package, or the version, of a command, as one sentence, by the end of its stderr; `undefined`
 * when the command ended for another reason.
 */
export function absentPackage(command: Pick<Command, 'file' | 'args'>, stderr: string): string | undefined {
  const found = findRunner(command);
  if (found === undefined) return undefined;
  const { program, runner, packages } = found;
  const of = `the registry of ${program} has no`;
  const named = runner.named?.exec(stderr)?.[1]; // it may be a dependency
  if (runner.absent.test(stderr)) return `${of} package ${named ?? packages.join(', ')}`;
  return runner.absentVersion.test(stderr) ? `${of} such version of ${packages.join(', ')}` : undefined;
}

function findRunner(command: Pick<Command, 'file' | 'args'>) {
  const line = unwrapped([command.file, ...command.args]);
  const [file = '', ...args] = line;
  const program = basename(file.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|ps1|bat)$/, '');
  for (const runner of RUNNERS[program] ?? []) {
    if (!runner.words.every((word, at) => args[at] === word)) continue;
    const packages = packagesIn(args.slice(runner.words.length), runner);
    return packages.length === 0 ? undefined : { program, runner, packages };
  }
  return undefined;
}

/** Windows client files start scripts as `cmd /c npx …`. */
function unwrapped(line: readonly string[]): readonly string[] {
  const isShell = /^cmd(?:\.exe)?$/i.test(basename((line[0] ?? '').replaceAll('\\', '/')));
  return isShell && /^\/c$/i.test(line[1] ?? '') ? line.slice(2) : line;
}

function packagesIn(args: readonly string[], { packageOptions, valueOptions }: Runner): readonly string[] {
  const named: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--' || !word.startsWith('-')) {
      const first = word === '--' ? args[at + 1] : word;
      if (named.length === 0 && first !== undefined) named.push(first);
      break;
    }
    const [option = '', value] = word.split(/=(.*)/s, 2);
    const takesValue = packageOptions.includes(option) || valueOptions.includes(option);
    const given = value ?? (takesValue ? args[++at] : undefined);
    if (packageOptions.includes(option) && given !== undefined) named.push(given);
  }
  return named.map(withoutVersion).sort();
}

/** `@scope/pkg@1.2` and `pkg==1.2` without the version. */
function withoutVersion(text: string): string {
  return text.replace(/(?<=.)(?:@|[=<>~!]=|\[).*$/s, '');
}

const homeOf = (env: Env): string => env.HOME ?? env.USERPROFILE ?? '';
const xdgCache = (env: Env): string => (env.XDG_CACHE_HOME ? env.XDG_CACHE_HOME : join(homeOf(env), '.cache'));
const npmCache = (env: Env): string => env.npm_config_cache ?? env.NPM_CONFIG_CACHE ?? join(homeOf(env), '.npm');

const NPM = {
  packageOptions: ['-p', '--package'],
  valueOptions: ['--cache', '--registry', '--userconfig', '--prefix', '-w', '--workspace', '-c', '--call'],
  cache: npmCache,
  absent: /npm (?:error|ERR!) code E404/,
  named: /^npm (?:error|ERR!) 404 +(?:The requested resource )?'(@?[^'@]+)@/m,
  absentVersion: /npm (?:error|ERR!) code ETARGET/,
} as const;
const UV = {
  packageOptions: ['--from'],
  valueOptions: ['--with', '-p', '--python', '--index', '--index-url', '--default-index', '--cache-dir', '--env-file'],
  cache: (env: Env) => env.UV_CACHE_DIR ?? join(xdgCache(env), 'uv'),
  absent: /was not found in the package registry/,
  absentVersion: /there (?:is|are) no versions? of/,
} as const;
const PNPM = {
  packageOptions: ['--package'],
  valueOptions: [],
  cache: (env: Env) => join(xdgCache(env), 'pnpm'),
  absent: /ERR_PNPM_FETCH_404/,
  absentVersion: /ERR_PNPM_NO_MATCHING_VERSION/,
} as const;
const YARN = {
  packageOptions: ['-p', '--package'],
  valueOptions: [],
  cache: (env: Env) => join(xdgCache(env), 'yarn'),
  absent: /YN0035/,
  absentVersion: /No candidates found/,
} as const;
const BUN = {
  packageOptions: ['-p', '--package'],
  valueOptions: [],
  cache: (env: Env) => env.BUN_INSTALL_CACHE_DIR ?? join(homeOf(env), '.bun', 'install', 'cache'),
  absent: /error: GET .* - 404/,
  absentVersion: /No version matching/,
} as const;
const PIPX = {
  packageOptions: ['--spec'],
  valueOptions: ['--python'],
  cache: (env: Env) => join(xdgCache(env), 'pipx'),
  absent: /No matching distribution found/,
  absentVersion: /No matching distribution found/,
} as const;
const GO = {
  packageOptions: [],
  valueOptions: ['-C', '-exec', '-mod', '-modfile', '-overlay', '-p', '-tags', '-ldflags', '-gcflags', '-asmflags'],
  cache: (env: Env) => env.GOMODCACHE ?? join(env.GOPATH ?? join(homeOf(env), 'go'), 'pkg', 'mod'),
  absent: /^go: .*(?:reading \S+\/list: 4\d\d |unrecognized import path|Repository not found)/im,
  absentVersion: /^go: .*(?:reading \S+: 4\d\d |no matching versions|unknown revision)/m,
} as const;

const RUNNERS: Readonly<Record<string, readonly Runner[]>> = {
  npx: [{ words: [], ...NPM }],
  npm: [
    { words: ['exec'], ...NPM },
    { words: ['x'], ...NPM },
  ],
  uvx: [{ words: [], ...UV }],
  uv: [{ words: ['tool', 'run'], ...UV }],
  pnpx: [{ words: [], ...PNPM }],
  pnpm: [{ words: ['dlx'], ...PNPM }],
  yarn: [{ words: ['dlx'], ...YARN }],
  bunx: [{ words: [], ...BUN }],
  bun: [{ words: ['x'], ...BUN }],
  pipx: [{ words: ['run'], ...PIPX }],
  go: [{ words: ['run'], ...GO }],
};
