import { Option } from 'commander';
import { ALLOWED_ORIGINS, readOrigins } from '../../shared/allowed-origins.ts';
import { LOG_FORMAT_FLAG, LOG_FORMATS } from '../../shared/gateway-log/log-format.ts';
import { MEMORY_BUDGET, memorySizeFrom } from '../../shared/memory-budget.ts';
import { startTimeoutFrom } from '../../shared/start-timeout.ts';
import {
  readAmount,
  readBoolean,
  readDuration,
  readList,
  readMemory,
  readPair,
  readPort,
  readPrefix,
  readPublish,
  readRepeated,
  readSecretReference,
} from './option-values.ts';
import { POLICY_OPTIONS } from './policy-options.ts';
import { REMOTE_AUTH_OPTIONS } from './remote-auth-options.ts';
import type { FlagsOf, RunOption } from './run-option.ts';

/** Options of images that are made of packages; `toolmgr build` has them too. */
export const PACKAGE_OPTIONS = [
  {
    flags: '--runtime-image <IMAGE>',
    stored: 'runtime_config.builder_image',
    description: 'base image (default: node:24-alpine, python:3.14-slim, golang)',
  },
  {
    flags: '--runtime-add-package <NAME>',
    stored: 'runtime_config.additional_packages',
    description: 'package of apk or apt for the build and the server; may be repeated',
    read: readRepeated,
  },
  {
    flags: '--build-with <REQUIREMENT>',
    stored: 'runtime_config.build_with',
    description: 'constraint of a dependency (PEP 508), for uvx:// only; may be repeated',
    read: readRepeated,
  },
  {
    flags: '--ca-cert <FILE>',
    stored: 'build_ca_cert',
    as: 'path',
    description: 'PEM file with certificates that the build and the server trust',
  },
] as const satisfies readonly RunOption[];

/** Every option of the run command by help group. */
export const RUN_OPTIONS = {
  'Workload:': [
    { flags: '--name <NAME>', description: 'name of the workload (default: made from TARGET)' },
    { flags: '--group <NAME>', description: 'group it belongs to', fallback: 'default' },
    {
      flags: '-e, --env <KEY=VALUE>',
      description: 'environment variable; may be repeated',
      fallback: {},
      read: readPair,
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
  'Containers:': [
    { flags: '-l, --label <KEY=VALUE>', description: 'label of the container; may be repeated', read: readPair },
    {
      flags: '--network <MODE>',
      description: 'network of the container: bridge, host, none or the name of one (default: bridge)',
    },
    {
      flags: '--isolate-network [BOOLEAN]',
      description:
        'isolate the container: it reaches only what the permission profile allows, and not this machine; not with --network ' +
        '(default: true)',
      read: readBoolean,
    },
    {
      flags: '--allow-docker-gateway [BOOLEAN]',
      description: 'an isolated container may reach this machine at host.docker.internal, at any port (default: false)',
      read: readBoolean,
    },
    {
      flags: '-p, --publish <PORTS>',
      stored: 'publish',
      description: 'publish hostPort:containerPort, or a container port at a free port; may be repeated',
      read: readPublish,
    },
    {
      flags: '-v, --volume <MOUNT>',
      description: 'mount host-path:container-path[:ro]; may be repeated',
      read: readRepeated,
    },
    {
      flags: '--image-verification <MODE>',
      description:
        'signatures of images in the registry: warn (default) runs an image that is not verified, enabled refuses it, ' +
        'disabled checks nothing',
      choices: ['warn', 'enabled', 'disabled'],
    },
    {
      flags: '--permission-profile <PROFILE>',
      description:
        'none, network or a JSON file: mounts, network mode and rights of the container (default: network; a registry entry has its own)',
    },
    {
      flags: '--memory <SIZE>',
      stored: 'resource_limits.memory',
      description: 'memory that the container may use, such as 512m; 0: no limit (default: 2g)',
      read: readMemory,
    },
    {
      flags: '--cpus <NUMBER>',
      stored: 'resource_limits.cpus',
      description: 'processors that the container may use, such as 1.5; 0: no limit (default: 2)',
      read: readAmount(/^\d{1,4}(\.\d{1,3})?$/, 'a number such as 1.5'),
    },
    {
      flags: '--pids-limit <NUMBER>',
      stored: 'resource_limits.pids',
      description: 'processes and threads that the container may have; 0: no limit (default: 1024)',
      read: readAmount(/^\d{1,6}$/, 'a whole number'),
    },
    {
      flags: '--read-only [BOOLEAN]',
      stored: 'read_only_root',
      description:
        'the container writes nowhere but to /tmp and mounts (default: what the label dev.toolmgr.read-only-root of the image says)',
      read: readBoolean,
    },
    {
      flags: '--ignore-globally [BOOLEAN]',
      description:
        'hide files of mounts by the .toolmgrignore in $XDG_CONFIG_HOME/toolmgr too, beside that of the mount (default: true)',
      read: readBoolean,
    },
    {
      flags: '--print-resolved-overlays [BOOLEAN]',
      description: 'print the container paths that ignore files hide (default: false)',
      read: readBoolean,
    },
  ],
  'Packages (uvx://, npx://, go://) in containers:': PACKAGE_OPTIONS,
  'Proxy and transport:': [
    {
      flags: '--transport <KIND>',
      description:
        'stdio, streamable-http or sse (default: stdio for programs and packages, streamable-http for images and URLs; for URLs sse when the path ends in /sse)',
      choices: ['stdio', 'streamable-http', 'sse'],
    },
    { flags: '--host <ADDRESS>', description: 'address the endpoint listens on', fallback: '127.0.0.1' },
    {
      flags: '--proxy-port <PORT>',
      stored: 'port',
      description: 'port of the endpoint (default: a free one, kept over restarts)',
      read: readPort(0),
    },
    {
      flags: '--target-port <PORT>',
      stored: 'target_port',
      description:
        'port on which a program with an HTTP transport listens (default: a free one, passed in the variable PORT)',
      read: readPort(1),
    },
    {
      flags: '--target-host <ADDRESS>',
      stored: 'target_host',
      description: 'address on which a program with an HTTP transport listens (default: 127.0.0.1)',
    },
    {
      flags: '--proxy-mode <MODE>',
      stored: 'proxy_mode',
      description: 'what clients of a stdio server are served: streamable-http, or sse (deprecated) too',
      choices: ['streamable-http', 'sse'],
      fallback: 'streamable-http',
    },
    {
      flags: '--endpoint-prefix <PATH>',
      stored: 'endpoint_prefix',
      description: 'path before the URL that SSE clients send to, behind a reverse proxy that removes it',
      read: readPrefix,
    },
    {
      flags: '--trust-proxy-headers',
      stored: 'trust_proxy_headers',
      description: 'the URL that SSE clients send to follows X-Forwarded-Proto, -Host, -Port and -Prefix',
    },
    {
      flags: ALLOWED_ORIGINS.flags,
      description: ALLOWED_ORIGINS.description,
      stored: 'allowed_origins',
      read: readOrigins,
    },
    {
      flags: '--session-ttl <DURATION>',
      stored: 'session_ttl',
      description: 'a session without requests ends after this time',
      fallback: '2h',
      read: readDuration,
    },
    { flags: '--stateless', stored: 'stateless', description: 'the server keeps no sessions: only POST is answered' },
    {
      flags: '--sessions <MODE>',
      stored: 'sessions',
      description:
        'of a stdio server: perClient (default), or shared: one for all clients; on Docker it outlives the proxy',
      choices: ['perClient', 'shared'],
    },
    {
      flags: '--memory-budget <SIZE>',
      stored: 'memory_budget_bytes',
      description: MEMORY_BUDGET.description,
      read: memorySizeFrom,
    },
    {
      flags: '--strict-protocol-validation',
      stored: 'strict_protocol_validation',
      description:
        'answer 400 to requests whose MCP-Protocol-Version is an unknown revision (default: any is accepted)',
    },
    {
      flags: '--tools <LIST>',
      stored: 'tools_filter',
      description: 'only these tools, comma-separated (default: all)',
      read: readList,
    },
    { flags: '--tools-override <FILE>', description: 'JSON file with other names and descriptions of tools' },
  ],
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
export function flagOf({ flags }: RunOption): keyof RunFlags {
  return new Option(flags).attributeName() as keyof RunFlags;
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
