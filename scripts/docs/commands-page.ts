import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { page } from './markdown.ts';
import { ROOT } from './sources.ts';

/** The members of commander's `Command` that the page needs. */
interface CommandHelp {
  name(): string;
  readonly commands: readonly CommandHelp[];
  helpInformation(): string;
}

/** docs/reference/commands.md; `undefined` when the command line cannot be loaded. */
export async function commandsPage(): Promise<string | undefined> {
  const program = await loadProgram();
  if (program === undefined) return undefined;
  return page('Commands', `the help of \`${SOURCE}\``, [
    'In a clone, `npm run toolmgr -- ARGS` runs the command line from its sources.',
    ...sections(program, program.name()),
  ]);
}

const SOURCE = 'hosts/cli/main.ts';

/** When the source does not load, an existing page is reported as stale instead of being lost. */
async function loadProgram(): Promise<CommandHelp | undefined> {
  if (!existsSync(join(ROOT, SOURCE))) return undefined;
  try {
    const loaded = (await import(pathToFileURL(join(ROOT, SOURCE)).href)) as { createProgram(): CommandHelp };
    return loaded.createProgram();
  } catch (cause) {
    console.error(`docs: ${SOURCE} does not load: ${String(cause)}`);
    return undefined;
  }
}

function sections(command: CommandHelp, path: string): readonly string[] {
  const help = command.helpInformation().trimEnd();
  return [
    `## ${path}\n\n\`\`\`\n${help}\n\`\`\``,
    ...command.commands
      .filter((inner) => inner.name() !== 'help')
      .flatMap((inner) => sections(inner, `${path} ${inner.name()}`)),
  ];
}
