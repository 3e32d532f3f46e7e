import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './until.ts';

const STARTED_MS = 180_000;

/** A gateway that was started by npx. Disposing stops it. */
export interface NpxGateway extends AsyncDisposable {
  /** Its MCP endpoint; `nowhere: ` and what it printed when it ended instead. */
  readonly url: string;
}

/** Runs `npx ARGS`, which serves a gateway, until it prints the URL of its endpoint or ends. */
export async function startNpxGateway(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<NpxGateway> {
  // npx starts a shell: the whole group is stopped
  const gateway = spawn('npx', args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(gateway, 'exit');
  let printed = '';
  for (const stream of [gateway.stdout, gateway.stderr]) stream.on('data', (text) => (printed += text));
  const at = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed)?.[0];
  const stop = async (): Promise<void> => {
    if (gateway.pid !== undefined && gateway.exitCode === null) process.kill(-gateway.pid, 'SIGTERM');
    await ended;
  };
  try {
    await until(() => at() !== undefined || gateway.exitCode !== null, STARTED_MS);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { url: at() ?? `nowhere: ${printed}`, [Symbol.asyncDispose]: stop };
}
