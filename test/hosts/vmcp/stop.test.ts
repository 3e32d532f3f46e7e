import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

async function connected(url: string, mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: mode, version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** A file with two backends: a server that answers on demand, and a program. */
function fileIn(folder: string, far: string): Promise<string> {
  const program = { transport: 'stdio', command: { file: process.execPath, args: [EVERYTHING] } };
  const audit = { enabled: true, logFile: join(folder, 'audit.log'), eventTypes: ['mcp_tool_call'] };
  return writeVmcpFile(folder, { far, program }, { limits: { stopMs: 30_000 }, audit });
}

describe('SIGTERM while clients of both eras call a server and a program', () => {
  proves(
    'choice.stop.calls-end',
    'completes all calls with their progress, and all of them are in the audit trail',
    async () => {
      const folder = temporaryFolder('stop');
      const gate = Promise.withResolvers<void>();
      await using far = await recordingServer(() => gate.promise);
      await using running = startCli(['vmcp', 'serve', '-c', await fileIn(folder, far.url), '--port', '0']);
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      await until(() => running.err().match(/backend ready/g)?.length === 2, 30_000);

      const clients = await Promise.all([connected(url, 'auto'), connected(url, 'legacy')]);
      const steps = [0, 0];
      const long = { name: 'program_trigger-long-running-operation', arguments: { duration: 6, steps: 12 } };
      const calls = clients.flatMap((client, n) => [
        client.callTool({ name: 'far_slow', arguments: {} }),
        client.callTool(long, { onprogress: ({ progress }) => void steps.splice(n, 1, progress) }),
      ]);
      await until(() => far.calls.length === 2 && steps.every((heard) => heard > 0));
      running.signal('SIGTERM');
      await until(async () => (await fetch(new URL('/readyz', url))).status === 503);
      const heardBefore = [...steps];
      gate.resolve();

      for (const result of await Promise.all(calls)) expect(result.isError).not.toBe(true);
      expect(steps.every((heard, n) => heard > (heardBefore[n] ?? 0))).toBe(true);
      expect((await running.finished).code).toBe(0);
      const lines = (await readFile(join(folder, 'audit.log'), 'utf8')).trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual(Array(4).fill('success'));
      await Promise.all(clients.map((client) => client.close()));
    },
    LONG,
  );
});
