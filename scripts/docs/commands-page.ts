import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXIT_CODES } from '../../hosts/shared/exit-codes.ts';
import { code, page, sentence, table } from './markdown.ts';
import { ROOT } from './sources.ts';

/** The members of commander's `Command` that the pages need. */
interface CommandHelp {
  name(): string;
  description(): string;
  helpInformation(): string;
  createHelp(): { visibleCommands(command: CommandHelp): readonly CommandHelp[] };
}

/** A page of commands. */
interface CommandGroup {
  readonly file: string;
  readonly title: string;
  readonly text: string;
  readonly names: readonly string[];
}

const GROUPS: readonly CommandGroup[] = [
  {
    file: 'gateways',
    title: 'Serve servers at one endpoint, and call them',
    text: 'The gateway of a client configuration, and commands for any running endpoint.',
    names: ['up', 'tools', 'call', 'status', 'restart', 'wait', 'logs', 'doctor', 'serve'],
  },
  { file: 'run', title: 'toolmgr run', text: 'Starts one server as a workload.', names: ['run', 'build'] },
  {
    file: 'workloads',
    title: 'Workloads',
    text: 'Commands for servers that `toolmgr run` started.',
    names: ['list', 'inspect', 'start', 'stop', 'rm', 'export', 'group', 'runtime', 'upgrade'],
  },
  {
    file: 'vmcp',
    title: 'Gateways of a file, and Kubernetes',
    text: 'Serves a vmcp file, checks it and explains what it does.',
    names: ['vmcp', 'operator'],
  },
  { file: 'skill', title: 'Agent skills', text: 'Builds, signs and installs skills of agents.', names: ['skill'] },
  {
    file: 'settings',
    title: 'Registries, secrets, clients and settings',
    text: 'What other commands use: where servers are found, which secrets there are, and which editors know the endpoints.',
    names: ['registry', 'search', 'secret', 'client', 'config'],
  },
];

/** For commands that no group names. */
const OTHERS: CommandGroup = {
  file: 'others',
  title: 'Other commands',
  text: 'Plugins, completion of shells, and the version.',
  names: [],
};

const SOURCE = 'hosts/cli/main.ts';

/** docs/reference/commands.md and docs/reference/commands/*.md; empty when the command line cannot be loaded. */
export async function commandPages(): Promise<readonly (readonly [string, string])[]> {
  const program = await loadProgram();
  if (program === undefined) return [];
  const visible = commandsOf(program);
  const groups = [...GROUPS, OTHERS].map((group) => ({
    group,
    commands: visible.filter((one) => groupOf(one) === group),
  }));
  return [
    ['commands.md', indexPage(program, groups)],
    ...groups
      .filter(({ commands }) => commands.length > 0)
      .map(({ group: { file, title, text }, commands }): readonly [string, string] => [
        `commands/${file}.md`,
        page(title, `the help of \`${SOURCE}\``, [
          text,
          ...commands.flatMap((one) => sections(one, `toolmgr ${one.name()}`)),
        ]),
      ]),
  ];
}

interface Filled {
  readonly group: CommandGroup;
  readonly commands: readonly CommandHelp[];
}

function indexPage(program: CommandHelp, groups: readonly Filled[]): string {
  return page('Commands', `the help of \`${SOURCE}\``, [
    'All commands of `toolmgr`, with the page that has their options. In a clone, `npm run toolmgr -- ARGS` runs the command line from its sources.',
    ...groups
      .filter(({ commands }) => commands.length > 0)
      .flatMap(({ group: { title, file }, commands }) => [
        `## ${title}`,
        table(
          ['command', 'what it does'],
          commands.map((one) => [
            `[${code(`toolmgr ${one.name()}`)}](commands/${file}.md#toolmgr-${one.name()})`,
            sentence(one.description()),
          ]),
        ),
      ]),
    '## Exit codes',
    table(
      ['code', 'means'],
      Object.values(EXIT_CODES).map(({ code: number, means }) => [String(number), sentence(means)]),
    ),
    '## toolmgr',
    helpOf(program),
  ]);
}

function groupOf(command: CommandHelp): CommandGroup {
  return GROUPS.find(({ names }) => names.includes(command.name())) ?? OTHERS;
}

/** When the source does not load, existing pages are reported as stale instead of being lost. */
async function loadProgram(): Promise<CommandHelp | undefined> {
  if (!existsSync(join(ROOT, SOURCE))) return undefined;
  try {
    const loaded = (await import(pathToFileURL(join(ROOT, SOURCE)).href)) as { createProgram(): Promise<CommandHelp> };
    return await loaded.createProgram();
  } catch (cause) {
    console.error(`docs: ${SOURCE} does not load: ${String(cause)}`);
    return undefined;
  }
}

function sections(command: CommandHelp, path: string): readonly string[] {
  return [
    `## ${path}\n\n${helpOf(command)}`,
    ...commandsOf(command).flatMap((inner) => sections(inner, `${path} ${inner.name()}`)),
  ];
}

/** Without hidden commands. */
function commandsOf(command: CommandHelp): readonly CommandHelp[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((inner) => inner.name() !== 'help');
}

function helpOf(command: CommandHelp): string {
  return `\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\``;
}
