// The scripts of `npm pack` and `npm publish` in a workspace: `build`, `replace` and `refuse`.
import { basename, resolve } from 'node:path';
import { buildWorkspaces, packBuilt, type Workspace } from './pack-workspaces.ts';

const { INIT_CWD = '.', npm_config_pack_destination: destination = '.', npm_config_dry_run: isDryRun } = process.env;
const into = resolve(INIT_CWD, destination);
const workspace = basename(process.cwd()) as Workspace;
// npm gives its own settings, such as --workspace, to the programs that it starts
for (const name of Object.keys(process.env)) if (/^npm_config_/i.test(name)) delete process.env[name];

switch (process.argv[2]) {
  case 'build':
    await buildWorkspaces();
    break;
  case 'replace':
    // npm has written a tarball of the clone's package.json, whose export condition leads to sources
    if (isDryRun !== 'true') await packBuilt(workspace, into);
    break;
  default:
    console.error('publish a tarball instead: npm run pack, then npm publish .scratch/packages/FILE');
    process.exitCode = 1;
}
