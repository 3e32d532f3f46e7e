import { groupName } from '@toolmgr/plugins/kit/workloads';
import { Option } from 'commander';
import { z } from 'zod';
import { LOG_FORMAT_FLAG, LOG_FORMATS } from '../../shared/gateway-log/log-format.ts';
import { startTimeoutFrom } from '../../shared/start-timeout.ts';
import { secretRef } from './body-values.ts';
import { CONTAINER_OPTIONS } from './container-options.ts';
import { readPair, readSecretReference } from './option-values.ts';
import { POLICY_OPTIONS } from './policy-options.ts';
import { PROXY_OPTIONS } from './proxy-options.ts';
import { REMOTE_AUTH_OPTIONS } from './remote-auth-options.ts';
import type { FlagsOf, RunOption } from './run-option.ts';

/** Every option of the run command by help group. */
export const RUN_OPTIONS = {
  'Workload:': [
    { flags: '--name <NAME>', description: 'name of the workload (default: made from TARGET)' },
    {
      flags: '--group <NAME>',
      description: 'group it belongs to',
      fallback: 'default',
      stored: 'group',
      as: 'own',
      body: {
        name: 'group',
        says: 'its group, which must exist; default `default`',
        accepts: groupName,
        shows: z.string(),
      },
    },
    {
      flags: '-e, --env <KEY=VALUE>',
      description: 'environment variable; may be repeated',
      fallback: {},
      read: readPair,
      stored: 'env_vars',
      as: 'own',
      hidden: 'map',
      body: { name: 'env_vars', says: 'variables; values that look secret are not shown' },
    },
    { flags: '--env-file <FILE>', description: 'file of environment variables; --env wins' },
    {
      flags: '--env-file-dir <DIR>',
      stored: 'env_file_dir',
      as: 'path',
      description: 'directory of such files; --env-file and --env win',
    },
    {
      flags: '--secret <NAME,target=VARIABLE>',
      description: 'put a secret of toolmgr secret into an environment variable; may be repeated',
      read: readSecretReference,
      stored: 'secrets',
      as: 'own',
      body: {
        name: 'secrets',
        says: 'stored secrets and the variables that get them',
        accepts: z.array(secretRef).max(256),
        shows: z.array(secretRef),
        own: true,
      },
    },
    {
      flags: '--from-config <FILE>',
      description:
        'run what toolmgr export wrote; only --foreground, --supervised, --log-format and --debug may be added',
    },
    { flags: '--debug', stored: 'debug', description: 'write debug lines to the log of the proxy' },
    {
      flags: '--runtime <KIND>',
      description:
        'process (no isolation, the program has your rights) or container (default for images, and for packages where an ' +
        'engine answers; the variable TOOLMGR_RUNTIME changes that for packages)',
      choices: ['process', 'container'],
    },
    {
      flags: '--start-timeout <DURATION>',
      description: 'time limit for the first start of the program, including its installation (default: 5m)',
      read: startTimeoutFrom,
    },
    {
      flags: '-f, --foreground',
      description:
        'run in the foreground until the program ends or Ctrl-C, then remove the workload; exits with its exit code',
    },
    { ...LOG_FORMAT_FLAG, flags: '--log-format <FORMAT>', choices: LOG_FORMATS },
    {
      flags: '--supervised',
      description:
        'with --foreground, for a supervisor such as Kubernetes: waits for a server that does not answer, gives calls in flight ' +
        '20 s at the end, and keeps its state in a temporary folder, so that a killed run does not prevent the next one',
    },
  ],
  ...CONTAINER_OPTIONS,
  ...PROXY_OPTIONS,
  ...POLICY_OPTIONS,
  ...REMOTE_AUTH_OPTIONS,
} as const satisfies Readonly<Record<string, readonly RunOption[]>>;

/** A row of {@link RUN_OPTIONS}. */
export type RowOfRun = (typeof RUN_OPTIONS)[keyof typeof RUN_OPTIONS][number];

/** Parsed flags of `run`. */
export interface RunFlags extends FlagsOf<RowOfRun> {
  /** Further parameters of the authorization request: of a registry entry, there is no option. */
  readonly remoteAuthParams?: Readonly<Record<string, string>>;
}

/** The key of an option in {@link RunFlags}. */
export function flagOf({ flags }: Pick<RunOption, 'flags'>): keyof RunFlags {
  return new Option(flags).attributeName() as keyof RunFlags;
}

/** The flags of a command line without options. */
export function fallbackFlags(): Partial<RunFlags> {
  const rows = Object.values<readonly RunOption[]>(RUN_OPTIONS).flat();
  return Object.fromEntries(rows.flatMap((row) => (row.fallback === undefined ? [] : [[flagOf(row), row.fallback]])));
}

/** The table as commander options. */
export function commanderOptions(): readonly Option[] {
  return Object.entries(RUN_OPTIONS).flatMap(([group, options]) => options.map((row) => commanderOption(group, row)));
}

/** Long names of all options, for suggestions. */
export function longNames(): readonly string[] {
  return commanderOptions().flatMap(({ long }) => long ?? []);
}

/** One row of a table as a commander option. */
export function commanderOption(group: string, row: RunOption): Option {
  const option = new Option(row.flags, row.description).helpGroup(group);
  if (row.choices !== undefined) option.choices(row.choices);
  if (row.read !== undefined) option.argParser(row.read);
  if (row.fallback !== undefined) option.default(row.fallback, typeof row.fallback === 'string' ? undefined : 'none');
  return option;
}
