import { resolve } from 'node:path';
import { present } from '@toolmgr/core';
import { groupName, RUN_CONFIG_VERSION, type RunConfig, workloadName } from '@toolmgr/plugins/kit/workloads';
import type { PermissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';
import { UsageError } from '../../shared/usage-error.ts';
import type { RunFlags } from '../fields/options.ts';
import { type Collected, collectSecrets, secretTargetOf } from './collect-secrets.ts';
import { containerFromFlags } from './container-from-flags.ts';
import { findContradiction } from './contradictions.ts';
import { type Variables, variablesOfFile, variablesOfFolder } from './env-files.ts';
import { policyFromFlags, remoteAuthOf } from './policy-from-flags.ts';
import { storedFields } from './stored-values.ts';
import { readTarget, type Target } from './target.ts';
import { readOverrides } from './tools-override.ts';
import { webhooksFromFlags } from './webhooks-from-flags.ts';

/** A new workload: what is written to disk, and what is only said. */
export interface NewWorkload extends Collected {
  readonly config: RunConfig;
  readonly warnings: readonly string[];
}

/**
 * Builds the configuration of a new workload from TARGET, its arguments and the flags; writes and starts nothing. `defaults` is
 * what a registry gives.
 * @throws UsageError when TARGET or the flags are invalid; the message says what to do
 */
export async function configFromFlags(
  target: string,
  args: readonly string[],
  flags: RunFlags,
  cwd: string,
  nowMs: number,
  defaults: { readonly profile?: PermissionProfile } = {},
): Promise<NewWorkload> {
  const read = await readTarget(target, [], cwd, flags.runtime);
  if (read.kind === 'refused') throw new UsageError(read.reason);
  const transport = flags.transport ?? defaultTransport(read);
  const kind = read.kind === 'image' && read.isPackage ? 'package' : read.kind;
  const problem = findContradiction({ kind, transport, flags }, args);
  if (problem !== undefined) throw new UsageError(problem);
  const warnings: string[] = read.kind === 'command' ? [...(read.warnings ?? [])] : [];
  const secrets = collectSecrets();
  const name = checkedName('--name', flags.name ?? read.name);
  const storing = { name, flags, cwd, secrets };
  const config: RunConfig = {
    schema_version: RUN_CONFIG_VERSION,
    name,
    group: checkedName('--group', flags.group, groupName),
    transport,
    ...(await storedFields(storing)),
    ...(read.kind === 'url' ? { remote_url: read.url } : {}),
    ...(read.kind === 'command' ? { process: programOf(target, read, flags, cwd) } : {}),
    isolate_network: false,
    ...(read.kind === 'image' ? await containerFromFlags(read.image, flags, cwd, warnings, defaults.profile) : {}),
    cmd_args: [...args],
    env_vars:
      read.kind === 'url'
        ? {}
        : {
            ...(read.kind === 'command' ? read.env : {}),
            ...(await variablesOf(flags, cwd, warnings)),
            ...flags.env,
          },
    ...(flags.secret === undefined ? {} : { secrets: lastOfTarget(flags.secret) }),
    host: flags.host.replace(/^\[(.*)\]$/, '$1'),
    ...(flags.toolsOverride === undefined ? {} : { tools_override: await readOverrides(flags.toolsOverride, cwd) }),
    ...(await policyFromFlags(storing)),
    ...(await webhooksFromFlags(flags.webhookConfig ?? [], cwd, secrets)),
    ...present({ remote_auth_config: await remoteAuthOf(storing) }),
    created_at: new Date(nowMs).toISOString(),
  };
  warnings.push(...headerWarnings(flags), ...proxyModeWarnings(config));
  return { config, warnings, secrets: secrets.secrets };
}

/** For flags and files. */
export function proxyModeWarnings({ proxy_mode }: RunConfig): string[] {
  return proxy_mode === 'sse' ? ['the proxy mode sse is deprecated: clients should use streamable-http'] : [];
}

/** One reference for each variable. */
function lastOfTarget(references: readonly string[]): string[] {
  return [...new Map(references.map((reference) => [secretTargetOf(reference), reference])).values()];
}

/** Values of these headers are in `run.json` and in exports as they are. */
function headerWarnings({ remoteForwardHeaders = {} }: RunFlags): string[] {
  return Object.keys(remoteForwardHeaders)
    .filter((name) => /authorization|cookie|key|token|secret|password/i.test(name))
    .map((name) => `--remote-forward-headers ${name}: its value is stored in run.json and exported`);
}

function programOf(
  target: string,
  { command }: Extract<Target, { kind: 'command' }>,
  { startTimeout }: RunFlags,
  cwd: string,
): NonNullable<RunConfig['process']> {
  return {
    ...{ target, file: command.file, args: [...command.args], cwd },
    ...(startTimeout === undefined ? {} : { start_timeout: `${startTimeout}ms` }),
  };
}

/** Variables of files; those of `--env-file` win over those of `--env-file-dir`. */
async function variablesOf({ envFile, envFileDir }: RunFlags, cwd: string, warnings: string[]): Promise<Variables> {
  return {
    ...(envFileDir === undefined
      ? {}
      : await variablesOfFolder(resolve(cwd, envFileDir), (line) => void warnings.push(line))),
    ...(envFile === undefined ? {} : await variablesOfFile(envFile, cwd)),
  };
}

function defaultTransport(read: Exclude<Target, { kind: 'refused' }>): RunConfig['transport'] {
  if (read.kind === 'command') return 'stdio';
  if (read.kind === 'image') return read.isPackage ? 'stdio' : 'streamable-http';
  return /\/sse\/?$/.test(new URL(read.url).pathname) ? 'sse' : 'streamable-http';
}

function checkedName(
  flag: string,
  name: string,
  schema: typeof workloadName | typeof groupName = workloadName,
): string {
  const checked = schema.safeParse(name);
  if (checked.success) return checked.data;
  throw new UsageError(`${flag} ${name}: ${checked.error.issues[0]?.message ?? 'is not a valid name'}`);
}
