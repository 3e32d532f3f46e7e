import { stateDir } from '@toolmgr/plugins/kit/files';
import { type RunConfig, readWorkload, readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { globalIgnoreFile, readMounts, resolveOverlays } from '@toolmgr/plugins/kit/workloads/permissions';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { terminalAsk } from '../../shared/ask.ts';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { createGatewayLog } from '../../shared/gateway-log/index.ts';
import { isLive, showLive, startRow } from '../../shared/gateway-log/show-starts.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { explainMissing, missingEngineClient } from '../../shared/product-features.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { harmless, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { configFromFile } from '../../workloads/config/from-config.ts';
import type { RunFlags } from '../../workloads/fields/options.ts';
import { logInFirst } from '../../workloads/login/log-in-first.ts';
import { addWorkload, exposureWarnings } from '../../workloads/planning/add-workload.ts';
import { checkNewWorkload, requireSystem, startNew } from '../../workloads/planning/create.ts';
import { groupsOf } from '../../workloads/planning/groups.ts';
import { type NewFromTarget, newWorkload } from '../../workloads/planning/new-workload.ts';
import type { FailedStart } from '../../workloads/planning/start.ts';
import { removeWithSecrets } from '../../workloads/secrets/remove-with-secrets.ts';
import { runInForeground } from './foreground.ts';
import { preparePackageImage } from './package-image.ts';
import { printFailure, terminalWork, withStartProgress } from './start-detached.ts';
import { temporaryState } from './temporary-state.ts';

/** What `run` was told: what to run, and how. */
export interface RunRequest {
  /** TARGET; absent with `--from-config`. */
  readonly target: string | undefined;
  readonly args: readonly string[];
  readonly flags: RunFlags;
}

/**
 * `toolmgr run`: writes a workload to disk, starts it, and prints its URL once it has answered.
 * Removes a workload that does not answer, so that the same command can be repeated.
 * @throws UsageError when the arguments are invalid
 */
export async function runTarget({ target, args, flags }: RunRequest): Promise<void> {
  requireSystem();
  if (flags.supervised && !flags.foreground) throw new UsageError('--supervised needs --foreground');
  if (flags.logFormat !== undefined && !flags.foreground)
    throw new UsageError('--log-format needs --foreground: the proxy in the background writes JSON to its log');
  using temporary = flags.supervised ? await temporaryState() : undefined;
  const state = temporary?.folder ?? stateDir(process.env);
  const cwd = process.cwd();
  const made: NewFromTarget =
    flags.fromConfig === undefined
      ? await newWorkload(target ?? '', args, flags, cwd, terminalAsk())
      : await configFromFile(flags.fromConfig, { debug: flags.debug === true, cwd, nowMs: Date.now() });
  const { config, secrets, warnings } = made;
  const client = config.image === undefined ? undefined : missingEngineClient();
  if (client !== undefined) {
    const reason = `it needs a container, and ${explainMissing(client)}`;
    return printFailure(config.name, explainMiss({ kind: 'failed', reason, lines: [] }, made.missed));
  }
  await checkNewWorkload(made);
  await printOverlays(config);
  // a name that is taken is refused before a long build
  if ((await readWorkload(state, config.name)) === undefined) await preparePackageImage(config);
  const isNewGroup = await isNew(state, config.group);
  const id = await addWorkload(state, config, secrets);
  for (const warning of [...warnings, ...exposureWarnings(config)])
    stderr.line(`${stderr.yellow('warning')} ${warning}`);
  if (flags.foreground) return await foreground(state, config, flags);
  const started = await withStartProgress(config.name, (work) => startNew(state, config, id, work));
  if (started.kind === 'running') {
    printNextSteps(config, started.record.status.url ?? '', made.signed);
    if (isNewGroup)
      stdout.line(`  its group       ${config.group} is new: ${ownCommand(`list --group ${config.group}`)}`);
    return;
  }
  if (started.left !== undefined) stderr.line(`${stderr.yellow('warning')} ${started.left}`);
  printFailure(config.name, config.image === undefined ? started : explainMiss(started, made.missed));
}

/** A name that is nothing at all is often a typing error: the answer names the registry, and the proxy's log does not help. */
function explainMiss(failed: FailedStart, missed: string | undefined): FailedStart {
  if (missed === undefined || !/there is no image|no container engine|needs a container/.test(failed.reason))
    return failed;
  const reason = `it is neither a registry entry nor a program nor a pullable image: ${missed}, and ${failed.reason}`;
  return { ...failed, reason, lines: [] };
}

/** Whether a workload would be the first of its group, and the group was not created either. */
async function isNew(state: string, group: string): Promise<boolean> {
  const groups = await groupsOf(state, await readWorkloads(state));
  return !groups.some(({ name }) => name === group);
}

/** The container paths that ignore files hide now. */
async function printOverlays({ volumes = [], ignore_config: ignore }: RunConfig): Promise<void> {
  if (ignore?.printOverlays !== true) return;
  const read = readMounts(volumes, { read: [], write: [] }, '/');
  if ('reason' in read) throw new UsageError(read.reason);
  const overlays = await resolveOverlays(read.mounts, ignore.loadGlobal ? globalIgnoreFile(process.env) : undefined);
  for (const { target, kind } of overlays) stdout.line(`hidden from the container: ${target} (${kind})`);
  if (overlays.length === 0) stdout.line('nothing is hidden from the container');
}

function printNextSteps(config: RunConfig, url: string, signed: string | undefined): void {
  const { name, transport } = config;
  const behind =
    config.image !== undefined
      ? isSchemeTarget(config.image)
        ? `${config.image} in a container over ${transport}; it sees only what --volume mounts (--runtime process: your files)`
        : `the image ${config.image} over ${transport}${signed === undefined ? '' : `, ${signed}`}`
      : config.remote_url === undefined
        ? `a program over ${transport}, not isolated: it has your rights`
        : 'a remote server';
  stdout.line(`${stdout.bold(name)} runs at ${stdout.green(url)}`);
  stdout.line(`behind it: ${behind}`);
  stdout.line();
  // the endpoint serves streamable HTTP too, which that command uses
  stdout.line(`  see its tools   ${ownCommand(`tools --url ${url.replace(/\/sse$/, '/mcp')}`)}`);
  stdout.line(`  its output      ${ownCommand(`logs ${name} --follow`)}`);
  stdout.line(`  stop it         ${ownCommand(`stop ${name}`)}`);
}

async function foreground(state: string, config: RunConfig, flags: RunFlags): Promise<void> {
  const stop = stopSignal();
  const starting = new AbortController();
  try {
    const problem = await logInFirst(state, config.name, terminalWork(config.name, stop.signal));
    if (problem !== undefined) {
      await removeWithSecrets(state, config.name);
      return printFailure(config.name, { kind: 'failed', reason: problem, lines: [] });
    }
    using gatewayLog = createGatewayLog({ level: config.debug ? 'debug' : 'warn', format: flags.logFormat });
    const running = runInForeground({
      state,
      config,
      write: (text) => void process.stderr.write(stderr.isTty ? harmless(text) : text),
      log: gatewayLog.log,
      signal: stop.signal,
      isSupervised: flags.supervised === true,
      onRunning(url) {
        starting.abort();
        stdout.line(`${stdout.bold(config.name)} runs at ${stdout.green(url)}`);
        stderr.line('Ctrl-C stops and removes it');
      },
    });
    if (isLive(gatewayLog)) void showLive(startRow(config.name), starting.signal);
    const end = await running;
    if (end.status === 'stopped') return stderr.line(`${config.name} is stopped and removed`);
    if (end.status === 'exited') {
      stderr.line(`${config.name} ended by itself (${end.how}) and is removed`);
      process.exitCode = end.exitCode;
      return;
    }
    stderr.line(`${stderr.red('toolmgr:')} ${config.name}: ${end.message}`);
    process.exitCode = end.status === 'error' && end.exitCode !== undefined ? end.exitCode : EXIT_CODES.failed.code;
  } finally {
    starting.abort();
    stop.release();
  }
}
