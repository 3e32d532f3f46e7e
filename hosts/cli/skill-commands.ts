import { type Command, Option } from 'commander';
import { formatOption } from '../shared/format-option.ts';

/** Adds `skill` with its commands. A command loads its code when it runs. */
export function addSkillCommands(program: Command): void {
  const skill = program.command('skill').description('agent skills of clients').addHelpText('after', HELP);
  scoped(skill.command('list').alias('ls'))
    .description('show installed skills')
    .option('--client <name>', 'only those of this client')
    .option('--group <name>', 'only those of this group')
    .addOption(formatOption())
    .action(async (flags) => (await installed()).listInstalled(flags));
  scoped(skill.command('info').argument('<name>', 'name of an installed skill'))
    .description('show one installed skill')
    .addOption(formatOption())
    .action(async (name: string, flags) => (await installed()).showInstalled(name, flags));
  clients(scoped(skill.command('install').argument('<skill>', 'name, OCI reference, or git:// reference')))
    .description('install a skill, and the skills that it needs')
    .option('--tag <tag>', 'tag of an OCI reference that has none')
    .option('--force', 'replace a folder that toolmgr does not manage')
    .option('--allow-unsigned', 'in a project: accept a skill without a signature')
    .option('--group <name>', 'group that gets the skill')
    .addOption(formatOption())
    .action(async (name: string, flags) => (await installed()).install(name, flags));
  scoped(skill.command('uninstall').alias('rm').argument('<name...>', 'names of installed skills'))
    .description('uninstall skills, and those that only they needed')
    .addOption(formatOption())
    .action(async (names: string[], flags) => (await installed()).uninstall(names, flags));
  clients(skill.command('sync').addOption(projectRoot()))
    .description('make the skills of a project match its toolmgr.lock.yaml')
    .addOption(yes())
    .option('--check', 'report and change nothing; exit code 2 when something differs')
    .option('--prune', 'uninstall skills that are no longer in the lock file')
    .option('--adopt', 'write installed skills that are not in the lock file to it')
    .option('--allow-unsigned', 'accept skills without a signature')
    .addOption(formatOption())
    .action(async (flags) => (await lockCommands()).sync(flags));
  clients(
    skill.command('upgrade').argument('[name...]', 'skills of the lock file; default: all').addOption(projectRoot()),
  )
    .description('read the sources in the lock file again and install what is newer')
    .addOption(yes())
    .option('--preview', 'show what is newer and install nothing')
    .option('--fail-on-changes', 'as --preview; exit code 2 when something is newer')
    .option('--allow-ref-change', 'accept another source repository')
    .option('--allow-signer-change', 'accept another signer')
    .addOption(formatOption())
    .action(async (names: string[], flags) => (await lockCommands()).upgrade(names, flags));
  addArtifactCommands(skill);
}

function addArtifactCommands(skill: Command): void {
  skill
    .command('show')
    .argument('<skill>', 'name, tag of a local build, OCI reference, or git:// reference')
    .description('show SKILL.md and the files of a skill without installing it')
    .addOption(formatOption())
    .action(async (reference: string, flags) => (await artifacts()).show(reference, flags));
  skill
    .command('validate')
    .argument('<folder>', 'folder with SKILL.md')
    .description('check a skill')
    .addOption(formatOption())
    .action(async (path: string, flags) => (await artifacts()).validate(path, flags));
  skill
    .command('build')
    .argument('<folder>', 'folder with SKILL.md')
    .description('build the OCI artifact of a skill and keep it as a local build')
    .option('-t, --tag <tag>', 'a word, or the OCI reference to push it to; default: the name of the skill')
    .addOption(formatOption())
    .action(async (path: string, flags) => (await artifacts()).build(path, flags));
  skill
    .command('push')
    .argument('<reference>', 'tag of a local build that is an OCI reference')
    .description('push a local build and sign it')
    .option('--key <file>', 'sign with a private key in PEM; its password is TOOLMGR_SIGNING_KEY_PASSWORD')
    .option('--identity-token-file <file>', 'sign by Sigstore with the OIDC token in this file, or - for stdin')
    .option('--no-sign', 'do not sign')
    .addOption(formatOption())
    .action(async (reference: string, flags) => (await artifacts()).push(reference, flags));
  const builds = skill
    .command('builds')
    .description('show local builds')
    .addOption(formatOption())
    .action(async (flags) => (await artifacts()).listBuilds(flags));
  builds
    .command('rm')
    .argument('<tag...>', 'tags of local builds')
    .description('remove local builds')
    .action(async (tags: string[]) => (await artifacts()).removeBuilds(tags));
}

const installed = () => import('./skills/installed-commands.ts');
const artifacts = () => import('./skills/artifact-commands.ts');
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

function yes(): Option {
  return new Option('-y, --yes', 'do not ask; without a terminal nothing is changed without it (exit code 4)');
}

const HELP = `
Examples:
  toolmgr skill install ghcr.io/example/skills/code-review:1.2.0
  toolmgr skill install --scope project git://github.com/example/skills@v1#code-review
  toolmgr skill sync --check
  toolmgr skill build --tag ghcr.io/example/skills/code-review:1.2.0 ./code-review
  toolmgr skill push --key cosign.pem ghcr.io/example/skills/code-review:1.2.0`;
