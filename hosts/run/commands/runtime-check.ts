import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';

/**
 * `toolmgr runtime check`: which container engines answer, and which of them is used. Exit code 1 when none answers.
 * @throws GatewayFault when DOCKER_HOST cannot be used
 */
export async function checkRuntimes({ format }: { readonly format: 'text' | 'json' }): Promise<void> {
  const { checkEngines } = await import('@toolmgr/plugins/workloads/container');
  const engines = await checkEngines();
  const used = engines.find(({ version }) => version !== undefined);
  if (used === undefined) process.exitCode = EXIT_CODES.failed.code;
  if (format === 'json') {
    return stdout.line(
      JSON.stringify(
        engines.map((engine) => ({ ...engine, used: engine === used })),
        undefined,
        2,
      ),
    );
  }
  const rows = engines.map((engine) => [
    engine.kind,
    engine.version === undefined ? stdout.red('no answer') : stdout.green(`version ${engine.version}`),
    engine.from === undefined ? engine.socket : `${engine.socket} (${engine.from})`,
    engine === used ? 'used' : (engine.problem ?? ''),
  ]);
  for (const line of columns(rows)) stdout.line(line);
  if (used === undefined)
    stderr.line(
      'no container engine answers: start Docker or Podman, or name its socket in DOCKER_HOST; programs run with --runtime process',
    );
}
