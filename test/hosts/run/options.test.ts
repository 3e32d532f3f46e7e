import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { addSkillCommands } from '../../../hosts/cli/skill-commands.ts';
import { addWorkloadCommands } from '../../../hosts/cli/workload-commands.ts';
import { addBuildCommand } from '../../../hosts/run/build-command.ts';
import { addRunCommand } from '../../../hosts/run/main.ts';
import { ProgramCommand } from '../../../hosts/shared/program-command.ts';
import { longNames } from '../../../hosts/workloads/fields/options.ts';
import { requirements } from '../../requirements.ts';
import { proves } from '../../support/proves.ts';
import { defaultFlags } from './default-flags.ts';

const BUILT = [
  '--strict-protocol-validation',
  '--runtime',
  '--name',
  '--group',
  '--env',
  '--foreground',
  '--supervised',
  '--transport',
  '--host',
  '--proxy-port',
  '--target-port',
  ...['--ca-cert', '--build-with', '--runtime-add-package', '--runtime-image'],
  ...['--allow-docker-gateway', '--ignore-globally', '--print-resolved-overlays'],
  ...['--label', '--network', '--isolate-network', '--publish', '--volume', '--permission-profile'],
  ...['--memory', '--cpus', '--pids-limit', '--read-only'],
  ...['--from-config', '--env-file', '--env-file-dir', '--debug', '--proxy-mode', '--target-host'],
  ...['--endpoint-prefix', '--trust-proxy-headers'],
  ...['--allowed-origins', '--session-ttl', '--stateless', '--sessions', '--tools', '--tools-override'],
  ...['--enable-audit', '--audit-config', '--authz-config', '--webhook-config', '--resource-url', '--tool-ca-bundle'],
  ...['--jwks-allow-private-ip', '--jwks-auth-token-file', '--remote-forward-headers'],
  ...['--remote-auth-bearer-token', '--remote-auth-bearer-token-file'],
  ...['--secret', '--remote-forward-headers-secret', '--image-verification'],
];

/** Groups of options that are all there. */
const BUILT_GROUPS = /^--(otel|oidc|token-exchange|remote-auth)(-|$)/;

/** Every option of the contract's run command, from the ledger. */
const specified = [
  ...new Set(
    requirements
      .filter(({ id }) => id.startsWith('run.option.'))
      .flatMap(({ says }) => says.match(/--[a-z][a-z-]*[a-z]/g) ?? []),
  ),
].sort();

/** Parses a command line of `run` and returns its output instead of running it. */
async function refusal(...args: readonly string[]): Promise<string> {
  let printed = '';
  const program = new ProgramCommand('toolmgr').enablePositionalOptions().exitOverride();
  program.configureOutput({
    writeErr: (text) => {
      printed += text;
    },
  });
  addRunCommand(program);
  try {
    await program.parseAsync(['node', 'toolmgr', 'run', ...args]);
  } catch (cause) {
    return cause instanceof CommanderError ? printed : (cause as Error).message;
  }
  return '';
}

/** Reads the flags of a command line without running it. */
async function flagsOf(...args: readonly string[]): Promise<Record<string, unknown>> {
  return (await readOf(...args)).flags;
}

/** Reads a command line without running it. */
async function readOf(...words: readonly string[]) {
  const program = new ProgramCommand('toolmgr').enablePositionalOptions().exitOverride();
  addRunCommand(program);
  const run = program.commands.find((command) => command.name() === 'run');
  let read = { target: '', args: [] as string[], flags: {} as Record<string, unknown> };
  run?.action((target: string, args: string[], flags: Record<string, unknown>) => {
    read = { target, args, flags };
  });
  await program.parseAsync(['node', 'toolmgr', 'run', ...words]);
  return read;
}

describe('the options of run', () => {
  it('are those of the contract, and ten of this implementation', () => {
    expect(specified.length).toBeGreaterThan(70);
    expect(longNames().toSorted()).toEqual(
      [
        ...specified,
        ...['--log-format', '--runtime', '--supervised', '--sessions', '--start-timeout', '--memory-budget'],
        ...['--memory', '--cpus', '--pids-limit', '--read-only'],
      ].sort(),
    );
  });

  proves('ask.run.later-options-refused', 'are all available: none is refused by name', async () => {
    expect(specified.filter((name) => !BUILT.includes(name) && !BUILT_GROUPS.test(name))).toEqual([]);
  });

  proves(
    ['ask.run.options', 'run.option.group-default', 'choice.general.never-ignored'],
    'are parsed when they are available',
    async () => {
      expect(await flagsOf('npx://x')).toEqual(defaultFlags);
      const all = ['--name', 'n', '--group', 'g', '-e', 'A=1', '--env', 'B=x=y', '-e', 'C=', '--foreground'];
      const more = ['--transport', 'sse', '--host', '::1', '--proxy-port', '0', '--target-port', '65535'];
      expect(await flagsOf(...all, ...more, 'npx://x', '--', '--name', 'other')).toEqual({
        ...{ name: 'n', group: 'g', env: { A: '1', B: 'x=y', C: '' }, foreground: true },
        ...{ transport: 'sse', host: '::1', proxyPort: 0, targetPort: 65_535 },
        ...{ proxyMode: 'streamable-http', sessionTtl: '2h' },
      });
      expect(longNames()).toEqual(expect.arrayContaining(BUILT));
    },
  );

  proves(
    'run.command.repeatable-options',
    'for labels, volumes, secrets and published ports may be repeated',
    async () => {
      const labels = [
        '-l',
        'a=1',
        '--label',
        'b=2',
        '-v',
        '/a:/a',
        '--volume',
        '/b:/b:ro',
        '-p',
        '1:1',
        '--publish',
        '2',
      ];
      const secrets = ['--secret', 'one,target=A', '--secret', 'two.b-c,target=_B'];
      const headers = ['X-A=one', 'X-B=two'].flatMap((header) => ['--remote-forward-headers-secret', header]);
      expect(await flagsOf(...labels, ...secrets, ...headers, 'npx://x')).toMatchObject({
        label: { a: '1', b: '2' },
        volume: ['/a:/a', '/b:/b:ro'],
        publish: ['1:1', '2'],
        secret: ['one,target=A', 'two.b-c,target=_B'],
        remoteForwardHeadersSecret: { 'X-A': 'one', 'X-B': 'two' },
      });
    },
  );

  proves('choice.general.unknown-flag-refused', 'suggest a similar option when they are mistyped', async () => {
    expect(await refusal('--nmae', 'x', 'npx://x')).toContain('unknown option --nmae, did you mean --name?');
    expect(await refusal('--otel-endpont=s3cret', 'npx://x')).toBe(
      'error: unknown option --otel-endpont, did you mean --otel-endpoint? (options of the server go after --)\n',
    );
    expect(await refusal('npx://x', '--verbose')).toContain(
      'unknown option --verbose (options of the server go after --)',
    );
  });

  proves('choice.run.booleans', 'that are booleans take --x and --x=false, and never the next word', async () => {
    const table = { '--isolate-network': 'isolateNetwork', '--read-only': 'readOnly', '--debug': 'debug' };
    const more = { '--otel-tracing-enabled': 'otelTracingEnabled', '--foreground': 'foreground', '-f': 'foreground' };
    for (const [flag, key] of Object.entries({ ...table, ...more })) {
      const read = async (...words: string[]) => {
        const { target, flags } = await readOf(...words);
        return [target, flags[key]];
      };
      expect(await read(flag, 'ghcr.io/example/server:1')).toEqual(['ghcr.io/example/server:1', true]);
      expect(await read(`${flag}=true`, 'image')).toEqual(['image', true]);
      expect(await read(`${flag}=0`, 'image')).toEqual(['image', false]);
      expect(await read('image', flag, `${flag}=false`)).toEqual(['image', false]);
      expect(await read(`${flag}=false`, flag, 'image')).toEqual(['image', true]);
      expect(await refusal(`${flag}=maybe`, 'image')).toContain('expected true or false');
    }
    expect(await refusal('--isolate-network', 'false', 'image')).toContain('as in --isolate-network=false');
    // a value that looks like an option, and words of the server
    const { flags, args } = await readOf('--name', '--debug', 'image', '--', '--debug=maybe');
    expect([flags, args]).toEqual([{ ...defaultFlags, name: '--debug' }, ['--debug=maybe']]);
  });

  it('have a help of at most 80 columns', () => {
    const program = new ProgramCommand('toolmgr');
    for (const add of [addRunCommand, addBuildCommand, addWorkloadCommands, addSkillCommands]) add(program);
    for (const command of program.commands) {
      const lines = command.helpInformation().split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
    }
    const run = program.commands.find((command) => command.name() === 'run');
    expect(run?.helpInformation()).toContain('--isolate-network[=BOOLEAN] ');
  });

  it('refuse invalid values without repeating possible secrets', async () => {
    expect(await refusal('-e', 's3cret', 'npx://x')).toBe(
      "error: option '-e, --env <KEY=VALUE>' is wrong. expected KEY=VALUE\n",
    );
    expect(await refusal('-e', '=s3cret', 'npx://x')).not.toContain('s3cret');
    for (const port of ['-1', '65536', '1e3', 'x', ''])
      expect(await refusal(`--proxy-port=${port}`, 'npx://x')).toContain('from 0 to 65535');
    expect(await refusal('--runtime', 'vm', 'npx://x')).toContain('Allowed choices are process, container');
    expect(await refusal('-p', '0:1', 'a/b:1')).toContain('expected hostPort:containerPort');
    expect(await refusal('--target-port', '0', 'npx://x')).toContain('from 1 to 65535');
    expect(await refusal('--transport', 'websocket', 'npx://x')).toContain(
      'Allowed choices are stdio, streamable-http, sse',
    );
    expect(await refusal()).toContain("missing required argument 'target'");
  });
});
