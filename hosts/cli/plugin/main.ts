import { join, relative, sep } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../../shared/usage-error.ts';
import { scaffold } from './scaffold.ts';

/** Adds `toolmgr plugin new NAME`. */
export function addPluginCommands(program: Command): void {
  const plugin = program.command('plugin').description('write your own plugins');
  plugin
    .command('new')
    .argument('<name>', 'folder and address of the plugin, e.g. business-hours')
    .option('--into <dir>', 'folder to create it in', '.')
    .description('create a working plugin with typed configuration, test and README')
    .addHelpText(
      'after',
      '\nExample:\n  toolmgr plugin new business-hours && cd business-hours && npm install && npm test',
    )
    .action(async (name: string, { into }: { into: string }) => {
      const made = await scaffold({ name, into });
      if ('problem' in made) throw new UsageError(made.problem);
      print(made.folder, made.files);
    });
}

function print(folder: string, files: readonly string[]): void {
  const file = relative('.', join(folder, 'index.ts')).replaceAll(sep, '/');
  const use = file.startsWith('..') ? file : `./${file}`;
  process.stdout.write(
    [
      `created ${folder}: ${files.join(', ')}`,
      `next: cd ${folder} && npm install && npm test`,
      `use it in a gateway file: plugins: [{ use: ${use}, with: { blocked: [] } }]`,
      '',
    ].join('\n'),
  );
}
