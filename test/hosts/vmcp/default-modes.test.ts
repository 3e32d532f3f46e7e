import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { testClient } from '@toolmgr/core/testing';
import { beforeEach, describe, expect } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('vmcp');
});

const write = (backends: Record<string, string>, more: object = {}): Promise<string> =>
  writeVmcpFile(folder, backends, more);

describe('a vmcp file without optional sections', () => {
  proves(
    ['choice.partial-failure.default', 'vmcp.operational.partial-failure-mode'],
    'serves no list while a backend is missing, names it, and calls the available ones',
    async () => {
      await using here = await recordingServer();
      const file = await write({ here: here.url, gone: 'http://127.0.0.1:9/mcp' });
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      const client = await testClient(fetch, url);
      await until(async () => (await fetch(new URL('/readyz', url))).status === 503);
      await until(async () => (await client.request('tools/list')).error !== undefined);
      const { error } = await client.request('tools/list');
      expect(error?.message).toMatch(/missing: gone \(/);
      expect(await client.callTool('here_add', { a: 1, b: 2 })).not.toHaveProperty('isError', true);
    },
    LONG,
  );

  proves(
    'vmcp.config.metadata',
    'shows its metadata in /status and in audit lines, and nothing without metadata',
    async () => {
      await using here = await recordingServer();
      const logFile = join(folder, 'audit.log');
      const metadata = { team: 'platform', stage: 'test' };
      for (const more of [{ metadata }, {}]) {
        const file = await write({ here: here.url }, { ...more, audit: { enabled: true, logFile } });
        await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
        const [, url = ''] = await serving.printed(/serves (http:\S+)/);
        const client = await testClient(fetch, url);
        await until(async () => (await client.toolNames()).includes('here_add'));
        await client.callTool('here_add', {});
        const status = (await (await fetch(new URL('/status', url))).json()) as object;
        const lines = async () => (await readFile(logFile, 'utf8')).trim().split('\n');
        await until(async () => (await lines()).some((line) => line.includes('here_add')));
        const last = JSON.parse((await lines()).at(-1) ?? '') as { readonly metadata: object };
        if ('metadata' in more) {
          expect(status).toMatchObject({ metadata });
          expect(last.metadata).toMatchObject({ server: metadata });
        } else {
          expect(status).not.toHaveProperty('metadata');
          expect(last.metadata).not.toHaveProperty('server');
        }
        await rm(logFile);
      }
    },
    LONG,
  );
});
