import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './run-tool.ts';

/** Builds the package in `from`, whose only program becomes `server`. */
export async function buildRust(from: string, into: string): Promise<void> {
  const target = join(into, 'target');
  await runTool('cargo', ['build', '--release', '--locked', '--quiet', '--target-dir', target], { cwd: from });
  copyFileSync(join(target, 'release', 'rust-sdk-server'), join(into, 'server'));
  rmSync(target, { recursive: true });
}
