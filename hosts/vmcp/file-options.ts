import type { Command } from 'commander';
import { formatOption } from '../shared/format-option.ts';
import type { ReadConfig, ReadConfigOptions } from './read-config.ts';

/** Options of a command that reads a file. */
export interface FileOptions {
  readonly config?: string;
  readonly format: 'text' | 'json';
}

/** Imports what `plugins:` names; nothing else that checks a file does. */
export const LOAD_PLUGINS = {
  flags: '--load-plugins',
  description: 'also load the files and packages under plugins: and check what they read, which runs their code',
} as const;

/** The file of `--config`. */
export async function readFile(file: string, options: ReadConfigOptions): Promise<ReadConfig> {
  const [{ readConfig, readConfigText }, { catalogue }] = await Promise.all([
    import('./read-config.ts'),
    import('@toolmgr/plugins'),
  ]);
  return readConfig(await readConfigText(file), file, catalogue, options);
}

/** Adds `--config` and `--format`. */
export function withFile(command: Command): Command {
  return command.option('-c, --config <file>', 'vmcp file (YAML)').addOption(formatOption());
}
