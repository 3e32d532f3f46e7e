import { checkEngines, type EngineCheck, pingEngines } from '@toolmgr/plugins/workloads/container';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { explainMissing, type MissingFeature, missingEngineClient } from '../../shared/product-features.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * `toolmgr runtime check`: which container engines answer, and which of them is used. Exit code 1 when none can be used.
 * @throws GatewayFault when DOCKER_HOST cannot be used
 */
export async function checkRuntimes({ format }: { readonly format: 'text' | 'json' }): Promise<void> {
  const missing = missingEngineClient();
  const engines = missing === undefined ? await checkEngines(process.env) : await enginesWithoutClient(missing);
  const used = engines.find(({ version }) => version !== undefined);
  if (used === undefined) process.exitCode = EXIT_CODES.failed.code;
  if (format === 'json') {
    return stdout.json(engines.map((engine) => ({ ...engine, used: engine === used })));
  }
  const rows = engines.map((engine) => [
    engine.kind,
    engine.version === undefined
      ? stdout.red(missing === undefined ? 'no answer' : 'not usable')
      : stdout.green(`version ${engine.version}`),
    engine.from === undefined ? engine.socket : `${engine.socket} (${engine.from})`,
    engine === used ? 'used' : (engine.problem ?? ''),
  ]);
  for (const line of columns(rows)) stdout.line(line);
  if (missing !== undefined)
    stderr.line(`no container engine can be used (${explainMissing(missing)}); programs run with --runtime process`);
  else if (used === undefined)
    stderr.line(
      'no container engine answers: start Docker or Podman, or name its socket in DOCKER_HOST; programs run with --runtime process',
    );
}

/** Without the client an engine can be asked whether it answers, and nothing more. */
async function enginesWithoutClient({ missing: [name] }: MissingFeature): Promise<readonly EngineCheck[]> {
  const pings = await pingEngines(process.env);
  if ('reason' in pings) throw new UsageError(pings.reason);
  return pings.map(({ path: socket, answers, ...engine }) => ({
    ...engine,
    socket,
    problem: answers ? `an engine answers, but ${name} is not installed` : 'no engine answers there',
  }));
}
