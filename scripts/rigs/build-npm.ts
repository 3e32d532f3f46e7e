import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

/**
 * Installs the packages of `package-lock.json` into `node_modules`, without their install scripts. Not `npm ci`: it refuses a
 * lock file when a registry mirror lacks optional packages of other platforms.
 */
export async function buildNpm(from: string, into: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(from, file), join(into, file));
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await runTool('npm', ['install', ...flags], { cwd: into });
}
