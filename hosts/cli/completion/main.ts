import { Argument, type Command } from 'commander';
import { stdout } from '../../shared/terminal.ts';
import { candidates, HIDDEN, type KnownNames } from './candidates.ts';
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from './scripts.ts';

/** Adds `completion`, and the hidden command that the scripts call. `whole` makes the program with all commands. */
export function addCompletionCommands(program: Command, whole: () => Promise<Command>): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .description('print the completion script of a shell, e.g. for ~/.bashrc: source <(toolmgr completion bash)')
    .action((shell: Shell) => void process.stdout.write(COMPLETION_SCRIPTS[shell]));
  program
    .command(HIDDEN, { hidden: true })
    .argument('[words...]', 'the words of the command line')
    .option('--new', 'a new word is typed; for shells that do not pass empty words')
    .action(async (words: string[], { new: isNew }: { readonly new?: boolean }) => {
      const typed = isNew ? [...words, ''] : words;
      for (const { value, about } of await candidates(await whole(), typed, NAMES)) {
        stdout.line(about === '' ? value : `${value}\t${about}`);
      }
    });
}

/** Loads the records of workloads only when their names are asked for. */
const NAMES: KnownNames = {
  async workloads() {
    const { stateDir } = await import('@toolmgr/plugins/kit/files');
    const { readWorkloads } = await import('@toolmgr/plugins/kit/workloads');
    return (await readWorkloads(stateDir(process.env))).map(({ name }) => name);
  },
  async backends() {
    return (await gateways()).flatMap(({ status }) => status?.backends.map(({ name }) => name) ?? []);
  },
  async tools() {
    const { fetchToolNames } = await import('../../shared/running/control-client.ts');
    const found = await Promise.all((await gateways()).map(({ record }) => fetchToolNames(record).catch(() => [])));
    return found.flat();
  },
  async gateways() {
    const names = (await gateways()).flatMap(({ record: { name, url = '' } }) => [
      name,
      ...(URL.canParse(url) ? [new URL(url).port] : []),
    ]);
    return [...new Set(names)].filter((name) => name !== '');
  },
  async groups() {
    const { stateDir } = await import('@toolmgr/plugins/kit/files');
    const { readWorkloads } = await import('@toolmgr/plugins/kit/workloads');
    const { groupsOf } = await import('../../workloads/planning/groups.ts');
    return (await groupsOf(stateDir(process.env), await readWorkloads(stateDir(process.env)))).map(({ name }) => name);
  },
};

async function gateways() {
  const { askGateways } = await import('../gateways/backends-of.ts');
  return askGateways(undefined);
}
