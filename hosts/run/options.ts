import { InvalidArgumentError, Option } from 'commander';
import { startTimeoutFrom } from '../shared/start-timeout.ts';

/** What the flags of `run` say, once read. */
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

/** One option of the command: what it says in the help, or what it comes with when it is not there yet. */
export interface RunOption {
  /** As commander writes them: `-e, --env <KEY=VALUE>`. */
  readonly flags: string;
  readonly says?: string;
  readonly comesWith?: string;
  readonly fallback?: unknown;
  readonly choices?: readonly string[];
  readonly read?: (text: string, before: unknown) => unknown;
}

/** Every option of the run command by help group. Those of the last groups are known and refused by their name. */
export const RUN_OPTIONS: Readonly<Record<string, readonly RunOption[]>> = {
  'Workload:': [
    { flags: '--name <NAME>', says: 'name of the workload (default: made from TARGET)' },
    { flags: '--group <NAME>', says: 'group it belongs to', fallback: 'default' },
    { flags: '-e, --env <KEY=VALUE>', says: 'environment variable; may be repeated', fallback: {}, read: readVariable },
    {
      flags: '--runtime <KIND>',
      says: 'process: no isolation, a program has your rights (the only one so far)',
      read: readRuntime,
    },
    {
      flags: '--start-timeout <DURATION>',
      says: 'time for the first start of the program, its installation included (default: 5m)',
      read: startTimeoutFrom,
    },
    {
      flags: '-f, --foreground',
      says: 'stay here until the program ends, with its exit code; Ctrl-C stops it. Then the workload is removed',
    },
  ],
  'Proxy and transport:': [
    {
      flags: '--transport <KIND>',
      says: 'stdio, streamable-http or sse (default: stdio for programs; for URLs sse when the path ends in /sse)',
      choices: ['stdio', 'streamable-http', 'sse'],
    },
    { flags: '--host <ADDRESS>', says: 'address the endpoint listens on', fallback: '127.0.0.1' },
    {
      flags: '--proxy-port <PORT>',
      says: 'port of the endpoint (default: a free one, kept over restarts)',
      read: readPort(0),
    },
    {
      flags: '--target-port <PORT>',
      says: 'port on which a program with an HTTP transport listens (default: a free one, told in PORT)',
      read: readPort(1),
    },
    {
      flags: '--strict-protocol-validation',
      says: 'answer 400 to requests whose MCP-Protocol-Version is an unknown revision (default: any is accepted)',
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

/** The table as commander takes it. */
export function commanderOptions(): readonly { readonly option: Option; readonly comesWith: string | undefined }[] {
  return Object.entries(RUN_OPTIONS).flatMap(([group, options]) =>
    options.map((row) => ({ option: commanderOption(group, row), comesWith: row.comesWith })),
  );
}

/** Long names of every option, to find the one that was meant. */
export function longNames(): readonly string[] {
  return commanderOptions().flatMap(({ option }) => option.long ?? []);
}

function commanderOption(group: string, row: RunOption): Option {
  const option = new Option(row.flags, row.says).helpGroup(group);
  if (row.comesWith !== undefined) option.hideHelp();
  if (row.choices !== undefined) option.choices(row.choices);
  if (row.read !== undefined) option.argParser(row.read);
  if (row.fallback !== undefined) option.default(row.fallback, typeof row.fallback === 'string' ? undefined : 'none');
  return option;
}

/** Options that may or may not take a value: they are refused before anybody reads it. */
function later(comesWith: string, names: readonly string[]): Record<string, RunOption[]> {
  return { [comesWith]: names.map((name) => ({ flags: `${name} [value]`, comesWith })) };
}

/** Values may be secret, so no message repeats them. */
function readVariable(text: string, before: unknown): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected KEY=VALUE');
  return { ...(before as Record<string, string>), [text.slice(0, at)]: text.slice(at + 1) };
}

/** An option of ours: the document knows containers only, which are to come. */
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
