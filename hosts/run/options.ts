import { InvalidArgumentError, Option } from 'commander';
import { startTimeoutFrom } from '../shared/start-timeout.ts';

/** Parsed flags of `run`. */
export interface RunFlags {
  readonly name?: string;
  readonly group: string;
  readonly runtime?: 'process';
  readonly foreground?: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly transport?: 'stdio' | 'sse' | 'streamable-http';
  readonly host: string;
  readonly proxyPort?: number;
  readonly targetPort?: number;
  readonly strictProtocolValidation?: boolean;
  /** Milliseconds. */
  readonly startTimeout?: number;
}

/** One option of the command: with its help text, or with the feature it comes with if it is not available yet. */
export interface RunOption {
  /** In commander's notation: `-e, --env <KEY=VALUE>`. */
  readonly flags: string;
  readonly description?: string;
  readonly availableWith?: string;
  readonly fallback?: unknown;
  readonly choices?: readonly string[];
  readonly read?: (text: string, before: unknown) => unknown;
}

/** Every option of the run command by help group. The last groups are not available yet and are refused. */
export const RUN_OPTIONS: Readonly<Record<string, readonly RunOption[]>> = {
  'Workload:': [
    { flags: '--name <NAME>', description: 'name of the workload (default: made from TARGET)' },
    { flags: '--group <NAME>', description: 'group it belongs to', fallback: 'default' },
    {
      flags: '-e, --env <KEY=VALUE>',
      description: 'environment variable; may be repeated',
      fallback: {},
      read: readVariable,
    },
    {
      flags: '--runtime <KIND>',
      description: 'process: no isolation, the program has your rights (the only kind so far)',
      read: readRuntime,
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
  ],
  'Proxy and transport:': [
    {
      flags: '--transport <KIND>',
      description:
        'stdio, streamable-http or sse (default: stdio for programs; for URLs sse when the path ends in /sse)',
      choices: ['stdio', 'streamable-http', 'sse'],
    },
    { flags: '--host <ADDRESS>', description: 'address the endpoint listens on', fallback: '127.0.0.1' },
    {
      flags: '--proxy-port <PORT>',
      description: 'port of the endpoint (default: a free one, kept over restarts)',
      read: readPort(0),
    },
    {
      flags: '--target-port <PORT>',
      description:
        'port on which a program with an HTTP transport listens (default: a free one, passed in the variable PORT)',
      read: readPort(1),
    },
    {
      flags: '--strict-protocol-validation',
      description:
        'answer 400 to requests whose MCP-Protocol-Version is an unknown revision (default: any is accepted)',
    },
  ],
  ...later('container workloads', [
    ...['--from-config', '--env-file', '--env-file-dir', '-l, --label', '--network', '--isolate-network'],
    ...['--allow-docker-gateway', '-p, --publish', '-v, --volume', '--permission-profile', '--secret'],
    ...['--image-verification', '--ca-cert', '--build-with', '--runtime-add-package', '--runtime-image'],
    ...['--ignore-globally', '--print-resolved-overlays'],
  ]),
  ...later('the complete run command', [
    ...['--debug', '--proxy-mode', '--target-host', '--endpoint-prefix', '--allowed-origins', '--trust-proxy-headers'],
    ...['--session-ttl', '--stateless', '--tools', '--tools-override'],
    ...['--webhook-config', '--otel-endpoint', '--otel-headers', '--otel-insecure', '--otel-service-name'],
    ...['--otel-sampling-rate', '--otel-tracing-enabled', '--otel-metrics-enabled'],
    ...['--otel-enable-prometheus-metrics-path', '--otel-custom-attributes', '--otel-env-vars'],
    '--otel-use-legacy-attributes',
    ...['--enable-audit', '--audit-config', '--authz-config', '--oidc-issuer', '--oidc-audience', '--oidc-client-id'],
    ...['--oidc-client-secret', '--oidc-introspection-url', '--oidc-jwks-url', '--oidc-scopes'],
    ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip', '--jwks-auth-token-file', '--resource-url'],
    '--tool-ca-bundle',
  ]),
  ...later('remote authentication', [
    ...['--remote-auth', '--remote-auth-issuer', '--remote-auth-authorize-url', '--remote-auth-token-url'],
    ...['--remote-auth-client-id', '--remote-auth-client-secret', '--remote-auth-client-secret-file'],
    ...['--remote-auth-bearer-token', '--remote-auth-bearer-token-file', '--remote-auth-callback-port'],
    ...['--remote-auth-resource', '--remote-auth-scope-param-name', '--remote-auth-scopes'],
    ...['--remote-auth-skip-browser', '--remote-auth-timeout', '--remote-forward-headers'],
    ...['--remote-forward-headers-secret', '--token-exchange-url', '--token-exchange-audience'],
    ...['--token-exchange-client-id', '--token-exchange-client-secret', '--token-exchange-client-secret-file'],
    ...['--token-exchange-header-name', '--token-exchange-scopes', '--token-exchange-subject-token-type'],
  ]),
};

/** The table as commander options. */
export function commanderOptions(): readonly { readonly option: Option; readonly availableWith: string | undefined }[] {
  return Object.entries(RUN_OPTIONS).flatMap(([group, options]) =>
    options.map((row) => ({ option: commanderOption(group, row), availableWith: row.availableWith })),
  );
}

/** Long names of all options, for suggestions. */
export function longNames(): readonly string[] {
  return commanderOptions().flatMap(({ option }) => option.long ?? []);
}

function commanderOption(group: string, row: RunOption): Option {
  const option = new Option(row.flags, row.description).helpGroup(group);
  if (row.availableWith !== undefined) option.hideHelp();
  if (row.choices !== undefined) option.choices(row.choices);
  if (row.read !== undefined) option.argParser(row.read);
  if (row.fallback !== undefined) option.default(row.fallback, typeof row.fallback === 'string' ? undefined : 'none');
  return option;
}

/** Options with an optional value: they are refused before the value is read. */
function later(availableWith: string, names: readonly string[]): Record<string, RunOption[]> {
  return { [availableWith]: names.map((name) => ({ flags: `${name} [value]`, availableWith })) };
}

/** No message repeats a value, because it may be secret. */
function readVariable(text: string, before: unknown): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected KEY=VALUE');
  return { ...(before as Record<string, string>), [text.slice(0, at)]: text.slice(at + 1) };
}

/** An option of this implementation: the contract has containers only, which are not available yet. */
function readRuntime(text: string): string {
  if (text === 'process') return text;
  if (text === 'container')
    throw new InvalidArgumentError('it is not available yet: it comes with container workloads');
  throw new InvalidArgumentError('expected process');
}

function readPort(lowest: number): (text: string) => number {
  return (text) => {
    const port = Number(text);
    if (/^\d{1,5}$/.test(text) && port >= lowest && port <= 65_535) return port;
    throw new InvalidArgumentError(`expected a number from ${lowest} to 65535`);
  };
}
