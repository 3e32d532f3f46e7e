import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { linesOf } from '../../support/audited.ts';
import { startCli } from '../../support/cli.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { PROGRAM } from '../../support/program.ts';
import { proves } from '../../support/proves.ts';
import { type RecordingServer, recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const REQUESTS = 600;
const LONG = 120_000;

describe('a gateway process', () => {
  let folder: string;
  let server: RecordingServer;
  beforeEach(async () => {
    folder = temporaryFolder('audit-stop');
    server = await recordingServer();
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
  });

  /** A vmcp file; an empty `logFile` means stdout. */
  const configured = (logFile: string): Promise<string> => {
    const audit = { enabled: true, logFile, eventTypes: ['mcp_tools_list'] };
    return writeVmcpFile(folder, { one: server.url }, { name: 'audited', audit });
  };
  const listed = (url: string) => Array.from({ length: REQUESTS }, () => postModern(url, 'tools/list'));

  proves(
    ['choice.audit.stop', 'vmcp.audit.log-file', 'vmcp.audit.component'],
    'writes an event for every request when it gets SIGTERM right after its last response',
    async () => {
      const logFile = join(folder, 'audit.log');
      await using serving = startCli(['vmcp', 'serve', '-c', await configured(logFile), '--port', '0']);
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      const replies = await Promise.all(listed(url));
      serving.signal('SIGTERM');
      expect((await serving.finished).code).toBe(0);
      expect(replies.every(({ status }) => status === 200)).toBe(true);
      const lines = linesOf(await readFile(logFile, 'utf8'));
      expect(lines).toHaveLength(REQUESTS);
      expect(lines[0]).toMatchObject({ component: 'audited' });
    },
    LONG,
  );

  proves(
    'choice.audit.overload',
    'responds while its standard output is not read, and writes the events when it is',
    async () => {
      const file = await configured('');
      const child = spawn(
        process.execPath,
        ['--conditions=development', PROGRAM, 'vmcp', 'serve', '-c', file, '--port', '0'],
        { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } },
      );
      let told = '';
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        told += chunk;
      });
      await until(() => /serves http/.test(told), 30_000);
      const [, url = ''] = /serves (http:\S+)/.exec(told) ?? [];
      const replies = await Promise.all(listed(url)); // about 270 KiB of lines, more than the buffer of a pipe
      expect(replies.every(({ status }) => status === 200)).toBe(true);
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk;
      });
      child.kill('SIGTERM');
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(linesOf(out)).toHaveLength(REQUESTS);
    },
    LONG,
  );
});
