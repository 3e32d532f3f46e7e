import { type Command, Option } from 'commander';

/** Adds `skill` with its commands. A command loads its code when it runs. */
export function addSkillCommands(program: Command): void {
  const skill = program.command('skill').description('agent skills of clients').addHelpText('after', HELP);
  scoped(skill.command('list').alias('ls'))
    .description('show installed skills')
    .option('--client <name>', 'only those of this client')
    .option('--group <name>', 'only those of this group')
    .addOption(format())
    .action(async (flags) => (await installed()).listInstalled(flags));
  scoped(skill.command('info').argument('<name>', 'name of an installed skill'))
    .description('show one installed skill')
    .addOption(format())
    .action(async (name: string, flags) => (await installed()).showInstalled(name, flags));
  clients(scoped(skill.command('install').argument('<skill>', 'name, OCI reference, or git:// reference')))
    .description('install a skill, and the skills that it needs')
    .option('--tag <tag>', 'tag of an OCI reference that has none')
    .option('--force', 'replace a folder that toolmgr does not manage')
    .option('--allow-unsigned', 'in a project: accept a skill without a signature')
    .option('--group <name>', 'group that gets the skill')
    .addOption(format())
    .action(async (name: string, flags) => (await installed()).install(name, flags));
  scoped(skill.command('uninstall').alias('rm').argument('<name...>', 'names of installed skills'))
    .description('uninstall skills, and those that only they needed')
    .addOption(format())
    .action(async (names: string[], flags) => (await installed()).uninstall(names, flags));
  clients(skill.command('sync').addOption(projectRoot()))
    .description('make the skills of a project what its toolmgr.lock.yaml says')
    .option('--check', 'report and change nothing; exit code 2 when something differs')
    .option('--prune', 'uninstall skills that are no longer in the lock file')
    .option('--adopt', 'write installed skills that are not in the lock file to it')
    .option('--allow-unsigned', 'accept skills without a signature')
    .addOption(format())
    .action(async (flags) => (await lockCommands()).sync(flags));
  clients(
    skill.command('upgrade').argument('[name...]', 'skills of the lock file; default: all').addOption(projectRoot()),
  )
    .description('read the sources of the lock file again and install what is newer')
    .option('--preview', 'show what is newer and install nothing')
    .option('--fail-on-changes', 'as --preview; exit code 2 when something is newer')
    .option('--allow-ref-change', 'accept another source repository')
    .option('--allow-signer-change', 'accept another signer')
    .addOption(format())
    .action(async (names: string[], flags) => (await lockCommands()).upgrade(names, flags));
}

const installed = () => import('./skills/installed-commands.ts');
const lockCommands = () => import('./skills/lock-commands.ts');

function scoped(command: Command): Command {
  return command
    .addOption(new Option('--scope <scope>', 'whose skill it is').choices(['user', 'project']))
    .addOption(projectRoot());
}

function projectRoot(): Option {
  return new Option('--project-root <folder>', 'root of a git work tree; default: that of the current folder');
}

function clients(command: Command): Command {
  return command.option('-c, --client <name...>', 'clients, or all; default: those on this machine');
}

function format(): Option {
  return new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text');
}

const HELP = `
Examples:
  toolmgr skill install ghcr.io/example/skills/code-review:1.2.0
  toolmgr skill install --scope project git://github.com/example/skills@v1#code-review
  toolmgr skill sync --check`;
