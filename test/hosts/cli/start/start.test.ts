import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageOutputProblem } from '../../../docs/page-output.ts';
import { emptyProgramMs } from '../../../support/busy-machine.ts';
import { cli, startCli } from '../../../support/cli.ts';
import { modernRequest } from '../../../support/open-endpoint.ts';
import { processesWith } from '../../../support/processes.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const LONG = 120_000;
const script = join(import.meta.dirname, '../../../../hosts/cli/start/main.ts');

describe('npm start', () => {
  proves(
    [
      'ask.start.three-servers',
      'ask.start.scratch-folder',
      'ask.start.waits',
      'ask.start.one-call',
      'ask.start.prints-url',
      'ask.start.prints-tools',
      'ask.start.prints-client-configuration',
      'ask.start.prints-how-to-stop',
      'ask.start.second-start',
      'ask.start.ctrl-c',
    ],
    'serves three published servers, calls one, prints the next steps, and leaves nothing behind',
    async () => {
      await using started = startCli(['--port', '0'], { script });
      await started.printed(/Ctrl-C stops everything/);
      const told = started.out();
      expect(pageOutputProblem('start', told)).toBeUndefined();
      const [, url = '', seconds = ''] =
        /serves (http:\/\/127\.0\.0\.1:\d+\/mcp) \(after (\d+\.\d) s\)/.exec(told) ?? [];
      expect(Number(seconds)).toBeLessThan(5 + (20 * (await emptyProgramMs())) / 1_000);
      expect(told).toMatch(/everything +\d+ tools/);
      expect(told).toMatch(/filesystem +\d+ tools/);
      expect(told).toMatch(/memory +\d+ tools/);
      expect(told).toMatch(/answer +Echo: hello from toolmgr/);
      const configuration = JSON.parse(/^\{$[\s\S]*?^\}$/m.exec(told)?.[0] ?? '') as unknown;
      expect(configuration).toEqual({ mcpServers: { toolmgr: { type: 'http', url } } });

      const scratch = /uses the folder (\S+),/.exec(told)?.[1] ?? '';
      const listed = await cli(['call', 'filesystem_list_directory', `path=${scratch}`, '--url', url]);
      expect(listed).toMatchObject({ code: 0, out: expect.stringContaining('hello.txt') });
      const entity = { name: 'Ada', entityType: 'person', observations: [] };
      await cli(['call', 'memory_create_entities', '--args', JSON.stringify({ entities: [entity] }), '--url', url]);
      expect((await cli(['call', 'memory_read_graph', '--url', url])).out).toContain('Ada');

      expect(processesWith(scratch).length).toBeGreaterThan(0);
      started.signal('SIGINT');
      expect(await started.finished).toMatchObject({
        code: 0,
        out: expect.stringContaining('no process is left'),
      });
      await until(() => processesWith(scratch).length === 0);
    },
    LONG,
  );

  it(
    'leaves nothing behind after a second Ctrl-C either',
    async () => {
      await using started = startCli(['--port', '0'], { script });
      const [, scratch = ''] = await started.printed(/uses the folder (\S+),/);
      await started.printed(/Ctrl-C stops everything/);
      started.signal('SIGINT');
      await started.printed(/stopping …/);
      started.signal('SIGINT');
      await started.finished;
      await expect(stat(scratch)).rejects.toThrow('ENOENT');
      await until(() => processesWith(scratch).length === 0);
    },
    LONG,
  );

  proves(
    'choice.first-lists.wait',
    'lists the tools of all three servers in the first list, even a very early one',
    async () => {
      const holder = createServer();
      await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
      const { port } = holder.address() as AddressInfo;
      await new Promise((resolve) => holder.close(resolve));
      await using _started = startCli(['--port', String(port)], { script });
      const { headers, body } = modernRequest('tools/list');
      const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
      const asked = { method: 'POST', headers: all, body: JSON.stringify(body) };
      let first: Response | undefined;
      await until(async () => {
        first = await fetch(`http://127.0.0.1:${port}/mcp`, asked).catch(() => undefined);
        return first !== undefined;
      }, LONG);
      const { result } = (await first?.json()) as { result: { tools: readonly { name: string }[] } };
      const servers = new Set(result.tools.map(({ name }) => name.slice(0, name.indexOf('_'))));
      expect([...servers].sort()).toEqual(['everything', 'filesystem', 'memory']);
    },
    LONG,
  );

  proves('ask.start.taken-port', 'reports a taken port and how to choose another', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const ended = await cli(['--port', String(port)], { script });
    other.close();
    expect(ended).toMatchObject({
      code: 1,
      err: expect.stringContaining(`port ${port} on 127.0.0.1 is taken by another program`),
    });
    expect(ended.err).toContain(`PORT=${port + 1} npm start`);
  });

  it('takes its port from PORT too, and refuses invalid ports', async () => {
    expect(await cli([], { script, env: { PORT: 'http' } })).toMatchObject({
      code: 1,
      err: expect.stringContaining('port http is not a number'),
    });
    expect(await cli(['--prt', '1'], { script })).toMatchObject({
      code: 1,
      err: expect.stringContaining('--port 4484'),
    });
  });

  it(
    'stops cleanly when it is stopped before it serves',
    async () => {
      // a separate temporary folder, because other runs on this machine use the common one
      const folder = temporaryFolder('early-stop');
      await using started = startCli(['--port', '0'], { script, env: { TMPDIR: folder } });
      await started.printed(/starting everything/);
      started.signal('SIGTERM');
      expect((await started.finished).code).toBe(0);
      await until(() => processesWith(folder).length === 0);
      expect(await readdir(folder)).toEqual([]);
    },
    LONG,
  );
});
