import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { explainCause, type Log } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { isLoopbackHost } from '../../http/listen.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { watchText } from '../../shared/watch-text.ts';
import type { VmcpConfig } from '../config-schema.ts';
import { groupConfig } from '../group-config.ts';
import { frozenBy, lockFileOf } from '../lock.ts';
import type { SectionedConfig } from '../plan.ts';
import { type ReadConfig, readConfig, readConfigText, withAdded } from '../read-config.ts';
import { sectionsOf } from '../sections.ts';
import { addedBy, type ServeOptions, switchedOnBy } from './options.ts';
import { type ChangedFiles, createPluginModules, type PluginModules } from './plugin-modules.ts';

/** The configuration that is served, and where it comes from: a vmcp file or a group of workloads. */
export interface ConfigSource extends SectionedConfig {
  /** Folder that relative paths of the configuration start at. */
  readonly baseDir: string;
  /** The file; `undefined` for a group, which has none. */
  readonly follow?: FollowedFile | undefined;
}

interface FollowedFile {
  readonly file: string;
  /** What the file contained when it was first read. */
  readonly text: string;
  /** The plugins that the file names by path or package. */
  readonly modules: PluginModules;
  /** Reads a changed text. @throws UsageError and GatewayFault as the first reading does */
  read(text: string): Promise<ReadConfig>;
}

/**
 * Reads the file or the group that the options name, and prints the warnings of the file.
 * @throws UsageError without a file and a group, or when neither authenticates callers and the host is not loopback
 * @throws GatewayFault when the file is invalid
 */
export async function sourceOf(options: ServeOptions): Promise<ConfigSource> {
  const { config: file, group, host } = options;
  if (file !== undefined) {
    if (group !== undefined) stderr.line(`toolmgr: --group ${group} is ignored, because there is a file`);
    return await sourceOfFile(file, options);
  }
  if (options.frozen) throw new UsageError('--frozen needs a file (-c FILE)');
  if (group === undefined) throw new UsageError('give a file (-c FILE) or a group of workloads (--group NAME)');
  if (!isLoopbackHost(host)) {
    throw new UsageError(
      `--group has no authentication, so it binds to loopback only; for --host ${host} write a file: ${ownCommand(`vmcp init -g ${group} -o vmcp.yaml`)}`,
    );
  }
  const sections = await sectionsOf(catalogue);
  const config = withAdded(groupConfig(group, group, sections), addedBy(options)) as VmcpConfig;
  return { config, sections, baseDir: process.cwd() };
}

async function sourceOfFile(file: string, options: ServeOptions): Promise<ConfigSource> {
  const text = await readConfigText(file);
  const lock = frozenFileOf(options);
  const modules = createPluginModules();
  const read = async (next: string): Promise<ReadConfig> => {
    const config = await readConfig(next, file, catalogue, {
      loadsPlugins: true,
      importFile: modules.importFile,
      alsoRead: switchedOnBy(options),
      added: addedBy(options),
    });
    if (config.assumesAnonymous && !isLoopbackHost(options.host)) throw assumedAnonymous(file, options.host);
    return lock === undefined ? config : frozenBy(config, lock);
  };
  const { config, sections, warnings } = await read(text);
  for (const warning of warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  return { config, sections, baseDir: dirname(resolve(file)), follow: { file, text, modules, read } };
}

/** The lock file of `--frozen`. @throws UsageError when it is missing */
export function frozenFileOf({ config, frozen }: ServeOptions): string | undefined {
  if (!frozen || config === undefined) return undefined;
  const lock = lockFileOf(config);
  if (existsSync(lock)) return lock;
  throw new UsageError(`there is no file ${lock}: ${ownCommand(`vmcp lock -c ${config}`)} writes it`);
}

function assumedAnonymous(file: string, host: string): UsageError {
  return new UsageError(
    `${file} has no incomingAuth, so it is served on loopback only; for --host ${host} add incomingAuth with type oidc, or with type anonymous if everyone who can reach it may call`,
  );
}

/** The absolute path of the file, as a member of what other commands are told; no member for a group. */
export function fileOf({ follow }: ConfigSource): { readonly file?: string } {
  return follow === undefined ? {} : { file: resolve(follow.file) };
}

/**
 * Calls `take` with the new configuration when the file changes and on SIGHUP, one at a time, until `signal` aborts.
 * An invalid file is logged and changes nothing. Plugins whose code has changed are loaded anew, also when the file is saved with the
 * same text.
 */
export function followFile(
  { follow }: Pick<ConfigSource, 'follow'>,
  signal: AbortSignal,
  log: Log,
  take: (read: ReadConfig) => Promise<void>,
): void {
  if (follow === undefined) return;
  const { file, text, modules, read } = follow;
  let turn: Promise<void> = Promise.resolve();
  const unused = new Set<string>(); // changed files of plugins that no configuration has used: the text was invalid then
  const reload = (next: string, onlyForCode = false): void => {
    turn = turn.then(async () => {
      if (signal.aborted) return;
      try {
        const changed = modules.refresh();
        for (const path of changed.reloaded) unused.add(path);
        if (changed.isLoadDue || !onlyForCode) {
          await take(await read(next));
          logUsed([...unused].sort(), log);
          unused.clear();
        }
        logStale(changed, log);
      } catch (cause) {
        log.error('the changed file is not used, the previous configuration stays', { cause: explainCause(cause) });
      }
    });
  };
  watchText(file, text, reload, signal, (same) => reload(same, true));
  const onHangup = (): void => {
    readConfigText(file).then(reload, (cause) => log.error('the file cannot be read', { cause: explainCause(cause) }));
  };
  process.on('SIGHUP', onHangup);
  signal.addEventListener('abort', () => process.off('SIGHUP', onHangup), { once: true });
}

function logUsed(files: readonly string[], log: Log): void {
  if (files.length > 0) log.info('the changed code of plugins is used', { files });
}

function logStale({ stale }: ChangedFiles, log: Log): void {
  if (stale.length > 0) {
    log.warn('files that plugins import changed, and only a restart uses their new code', { files: stale });
  }
}
