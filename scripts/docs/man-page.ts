import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './sources.ts';

/** The members of commander's `Command` that the page needs. */
interface ManCommand {
  name(): string;
  description(): string;
  readonly commands: readonly ManCommand[];
  createHelp(): {
    commandUsage(command: ManCommand): string;
    visibleArguments(command: ManCommand): readonly object[];
    visibleCommands(command: ManCommand): readonly ManCommand[];
    visibleOptions(command: ManCommand): readonly object[];
    argumentTerm(argument: object): string;
    argumentDescription(argument: object): string;
    optionTerm(option: object): string;
    optionDescription(option: object): string;
  };
}

interface Loaded {
  createProgram(): Promise<ManCommand>;
}

/** Where the page is written; packing puts it into the package. */
export const MAN_PAGE = 'docs/reference/toolmgr.1';

const SOURCE = 'hosts/cli/main.ts';

/** toolmgr(1) in the language of man(7); `undefined` when the command line cannot be loaded. */
export async function manPage(): Promise<string | undefined> {
  if (!existsSync(join(ROOT, SOURCE))) return undefined;
  const at = (path: string) => import(pathToFileURL(join(ROOT, path)).href);
  const program = await ((await at(SOURCE)) as Loaded).createProgram();
  const { EXIT_CODES } = (await at('hosts/shared/exit-codes.ts')) as {
    EXIT_CODES: Readonly<Record<string, { code: number; means: string }>>;
  };
  const exits = Object.values(EXIT_CODES).map(({ code, means }) => entry(String(code), means));
  return `${[
    `.\\" Written by scripts/docs/man-page.ts from ${SOURCE}.`,
    '.TH TOOLMGR 1 "" "toolmgr" "toolmgr"',
    '.SH NAME',
    `toolmgr \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    '.B toolmgr',
    '.I command',
    '[options]',
    '.SH COMMANDS',
    ...program
      .createHelp()
      .visibleCommands(program)
      .flatMap((command) => commandLines(command, 'toolmgr')),
    '.SH EXIT STATUS',
    ...exits,
    '.SH FILES',
    entry('~/.config/toolmgr/config.yaml', 'settings of the user (XDG_CONFIG_HOME)'),
    entry(
      '~/.local/state/toolmgr',
      'workloads, logs and records of running gateways (XDG_STATE_HOME, TOOLMGR_STATE_DIR)',
    ),
    '.SH SEE ALSO',
    'The documentation: https://github.com/toolmgr/toolmgr',
  ].join('\n')}\n`;
}

function commandLines(command: ManCommand, path: string): readonly string[] {
  const help = command.createHelp();
  const name = `${path} ${command.name()}`;
  if (command.name() === 'help') return [];
  return [
    `.SS ${roff(name)}`,
    roff(sentence(command.description())),
    '.PP',
    `.B ${roff(help.commandUsage(command).replace(/^toolmgr /, 'toolmgr '))}`,
    ...help.visibleArguments(command).map((one) => entry(help.argumentTerm(one), help.argumentDescription(one), '.I')),
    ...help.visibleOptions(command).map((one) => entry(help.optionTerm(one), help.optionDescription(one))),
    ...help.visibleCommands(command).flatMap((below) => commandLines(below, name)),
  ];
}

function entry(term: string, text: string, font = '.B'): string {
  return `.TP\n${font} ${roff(term)}\n${roff(text)}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Text without anything that roff would take for a request or an escape. */
export function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e]/g, (character) => SPECIAL[character] ?? ' ')
    .replace(/"/g, '\\(dq')
    .replace(/^[.']/, '\\&$&');
}

const SPECIAL: Readonly<Record<string, string>> = { '…': '...', '→': '->', '–': '\\-', '’': "'" };
