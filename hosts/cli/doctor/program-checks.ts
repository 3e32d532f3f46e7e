import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { checkEngines, engineState } from '@toolmgr/plugins/workloads/container';
import { ownCommand } from '../../shared/own-command.ts';
import { missingEngineClient } from '../../shared/product-features.ts';
import { type Check, type Finding, fail, ok, warn } from './checks.ts';

/** The oldest Node, as `engines` of the packages. */
const NEEDED = [22, 19] as const;

/** Node, and the programs that start servers: npm, uv, Go, a container engine. */
export function programChecks(env: NodeJS.ProcessEnv): readonly Check[] {
  return [
    { name: 'node', run: async () => nodeFinding(process.versions.node) },
    ...PROGRAMS.map(({ name, args, fix }) => ({
      name,
      run: (signal: AbortSignal) => programFinding(name, args, fix, env, signal),
    })),
    { name: 'container engine', run: () => engineFinding(env) },
  ];
}

const PROGRAMS = [
  { name: 'npm', args: ['--version'], fix: 'install Node with npm (https://nodejs.org); npx:// servers need it' },
  { name: 'uv', args: ['--version'], fix: 'install uv (https://docs.astral.sh/uv); uvx:// servers need it' },
  { name: 'go', args: ['version'], fix: 'install Go (https://go.dev/dl); go:// servers need it' },
] as const;

/** Whether this Node is new enough. Pure. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
    ? ok(`version ${version}`)
    : fail(`version ${version} is too old`, `install Node ${NEEDED.join('.')} or newer (https://nodejs.org)`);
}

async function programFinding(
  file: string,
  args: readonly string[],
  fix: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const isScript = process.platform === 'win32' && file === 'npm'; // npm.cmd needs a shell; the words are constants
    const { stdout } = await promisify(execFile)(file, [...args], {
      // the go.mod of the working folder does not choose which Go is downloaded and run
      env: { ...env, GOTOOLCHAIN: 'local' },
      signal,
      shell: isScript,
    });
    return ok(
      stdout
        .trim()
        .split('\n', 1)[0]
        ?.replace(/^(uv|go version go)\s?/, 'version ')
        .slice(0, MAX_LINE) ?? '',
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return warn('not installed', fix);
    return warn(`does not run: ${(cause as Error).message.split('\n', 1)[0]?.slice(0, MAX_LINE)}`, fix);
  }
}

const MAX_LINE = 120;

async function engineFinding(env: NodeJS.ProcessEnv): Promise<Finding> {
  const client = missingEngineClient();
  if (client !== undefined) {
    const state = await engineState(env);
    const says = state === 'answers' ? 'running' : NO_ENGINE;
    return warn(`${says}; not installed: ${client.missing.join(', ')}`, `for servers in containers: ${client.command}`);
  }
  const engines = await checkEngines(env);
  const used = engines.find(({ version }) => version !== undefined);
  if (used !== undefined) return ok(`${used.kind} version ${used.version} at ${used.socket}`);
  return warn(
    NO_ENGINE,
    `start Docker or Podman, or set DOCKER_HOST to its socket; servers in containers need it (details: ${ownCommand('runtime check')})`,
  );
}

const NO_ENGINE = 'neither Docker nor Podman answers';
