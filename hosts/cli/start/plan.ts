import { join } from 'node:path';
import type { PlanInput } from '@toolmgr/core';
import { commandFromScheme } from '@toolmgr/plugins';
import { UsageError } from '../../shared/usage-error.ts';

/** The published servers of `npm start`. */
const SERVERS = [
  { name: 'everything', package: '@modelcontextprotocol/server-everything', args: () => [], env: () => ({}) },
  {
    name: 'filesystem',
    package: '@modelcontextprotocol/server-filesystem',
    args: (scratch: string) => [scratch],
    env: () => ({}),
  },
  {
    name: 'memory',
    package: '@modelcontextprotocol/server-memory',
    args: () => [],
    env: (scratch: string) => ({ MEMORY_FILE_PATH: join(scratch, 'memory.jsonl') }),
  },
] as const;

/** Names of the servers, in the order of the output. */
export const SERVER_NAMES: readonly string[] = SERVERS.map(({ name }) => name);

/**
 * The plan of `npm start`: three published servers as workloads, which everyone on this machine may call.
 * @throws UsageError when a server is not installed and cannot be downloaded
 */
export async function startPlan(scratch: string, cwd: string): Promise<PlanInput> {
  const workloads = await Promise.all(
    SERVERS.map(async ({ name, package: pkg, args, env }) => {
      const outcome = await commandFromScheme(`npx://${pkg}`, args(scratch), { cwd, env: process.env });
      if (outcome === undefined || outcome.kind === 'refused') {
        throw new UsageError(`${pkg} cannot be started: ${outcome?.reason ?? 'npx:// is not known'}. Run npm ci`);
      }
      const { file, args: argv, env: needed } = outcome.command;
      return {
        runtime: 'process',
        name,
        transport: 'stdio',
        command: { file, args: argv },
        env: { ...needed, ...env(scratch) },
        cwd: scratch,
      };
    }),
  );
  return {
    name: 'toolmgr-start',
    plugins: [
      { use: 'secrets/environment' },
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'workloads/process' },
      { use: 'backend-sources/workloads', with: { workloads } },
      { use: 'aggregation', with: {} },
    ],
  };
}
