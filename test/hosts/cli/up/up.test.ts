// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of client files look like this

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonObject, readPlan } from '@toolmgr/core';
import { testClient } from '@toolmgr/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { upPlan } from '../../../../hosts/cli/up/serve.ts';
import { httpPeer } from '../../../proof/wire/wire-peer.ts';
import { cli, startCli } from '../../../support/cli.ts';
import { pausedRunner } from '../../../support/package-runner.ts';
import { processesWith } from '../../../support/processes.ts';
import { proves } from '../../../support/proves.ts';
import { recordingServer } from '../../../support/recording-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';

const LONG = 120_000;
const packages = join(import.meta.dirname, '../../../../node_modules/@modelcontextprotocol');
const MEMORY = join(packages, 'server-memory/dist/index.js');

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('up');
});

const write = async (value: object, name = '.mcp.json'): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(value, undefined, 2));
  return file;
};
const memory = () => ({
  command: process.execPath,
  args: [MEMORY],
  env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
});

describe('toolmgr up', () => {
  proves(
    'ask.start.confirms-end',
    'up and vmcp serve say when they have stopped, and vmcp serve why it has no --watch',
    async () => {
      await write({ mcpServers: { memory: memory() } });
      const file = join(folder, 'vmcp.yaml');
      const { command, args, env } = memory();
      await writeFile(
        file,
        JSON.stringify({ backends: [{ name: 'm', transport: 'stdio', command: { file: command, args, env } }] }),
      );
      await using upped = startCli(['up', '--port', '0'], { cwd: folder });
      await using served = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { cwd: folder });
      await Promise.all([upped.printed(/serves \.mcp\.json at/), served.printed(/serves http/)]);
      for (const each of [upped, served]) each.signal('SIGINT');
      expect(await upped.finished).toMatchObject({
        code: 0,
        err: expect.stringMatching(/stopping\n(?:.*\n)*stopped\n$/),
      });
      expect(await served.finished).toMatchObject({
        code: 0,
        err: expect.stringMatching(/toolmgr: stopping\n(?:.*\n)*toolmgr: stopped\n$/),
      });
      const watched = await cli(['vmcp', 'serve', '-c', file, '--watch']);
      expect(watched).toMatchObject({ code: 1, err: expect.stringContaining('reloads its file when it changes') });
    },
  );

  proves(
    'ask.hints.port-owner',
    'on the port of another gateway names that gateway, its process and its URL, how to use it and how to stop it, and starts nothing',
    async () => {
      await write({ mcpServers: { memory: memory() } });
      const env = { TOOLMGR_STATE_DIR: join(folder, 'state') };
      await using serving = startCli(['up', '--port', '0'], { cwd: folder, env });
      const [, url = ''] = await serving.printed(/serves \.mcp\.json at (http:\S+)/);
      const { port } = new URL(url);
      await write({ mcpServers: { second: { command: 'touch', args: [join(folder, 'started')] } } }, 'second.json');
      await write({ backends: [{ name: 'a', transport: 'stdio', command: { file: 'x' } }] }, 'vmcp.yaml');
      const again = await Promise.all([
        cli(['up', 'second.json', '--port', port], { cwd: folder, env }),
        cli(['vmcp', 'serve', '-c', 'vmcp.yaml', '--port', port], { cwd: folder, env }),
      ]);
      for (const { code, err } of again) {
        expect(code).toBe(1);
        expect(err).toContain(
          `port ${port} on 127.0.0.1 is taken by toolmgr itself: up (pid ${serving.pid}) serves ${url}; use it (toolmgr tools --url ${url}), stop it (kill ${serving.pid}), or choose another port (--port ${Number(port) + 1})`,
        );
      }
      expect(existsSync(join(folder, 'started'))).toBe(false);
    },
    LONG,
  );

  proves(
    ['ask.up.serves-file', 'ask.up.one-endpoint', 'ask.cli.two-commands', 'ask.cli.tools', 'ask.cli.call-json'],
    'serves the commands and URLs of a file at one endpoint, and the second command makes the first call',
    async () => {
      await using remote = await recordingServer();
      await write({
        mcpServers: {
          memory: memory(),
          remote: { url: remote.url, headers: { Authorization: 'Bearer ${env:UP_TOKEN}', 'X-Team': 'a' } },
          off: { command: 'nothing', disabled: true },
        },
      });
      const startedMs = Date.now();
      await using serving = startCli(['up', '--port', '0'], { cwd: folder, env: { UP_TOKEN: 's3cret' } });
      const [, url = ''] = await serving.printed(/serves \.mcp\.json at (http:\S+)/);
      const entity = { name: 'Ada', entityType: 'person', observations: ['wrote'] };
      const made = await cli([
        'call',
        'memory_create_entities',
        '--args',
        JSON.stringify({ entities: [entity] }),
        '--url',
        url,
      ]);
      expect(made).toMatchObject({ code: 0, out: expect.stringContaining('Ada') });
      expect(Date.now() - startedMs).toBeLessThan(60_000);

      expect(serving.err()).toMatch(/note off: left out, it is disabled/);
      expect(serving.err()).toMatch(/memory {2}ready, 9 tools/);
      const { out } = await cli(['tools', '--url', url]);
      expect(out).toMatch(/^memory_read_graph +\S/m);
      expect(out).toMatch(/^remote_echo +Says it again$/m);
      expect((await cli(['call', 'remote_echo', 'message=hi', '--url', url])).out).toBe('echo: hi\n');
      expect(remote.calls[0]).toMatchObject({ authorization: 'Bearer s3cret', 'x-team': 'a' });
      expect(serving.out() + serving.err()).not.toContain('s3cret');
      expect(await (await fetch(new URL('/api/endpoint', url))).json()).toMatchObject({
        backends: [
          { name: 'memory', outgoingAuth: 'unauthenticated' },
          { name: 'remote', outgoingAuth: 'header_injection' },
        ],
      });

      serving.signal('SIGINT');
      expect((await serving.finished).code).toBe(0);
      await until(() => processesWith(folder).length === 0);
    },
    LONG,
  );

  proves(
    'ask.up.watch',
    'reloads the file with --watch, and keeps the servers when an edit is invalid',
    async () => {
      await using remote = await recordingServer();
      const file = await write({ mcpServers: { one: { url: remote.url } } });
      await using serving = startCli(['up', file, '--port', '0', '--watch']);
      const [, url = ''] = await serving.printed(/ at (http:\S+)/);
      const tools = async () => (await cli(['tools', '--url', url])).out;
      await until(async () => (await tools()).includes('one_echo'));
      await write({ mcpServers: { two: { url: remote.url, headers: { 'X-New': 'yes' } } } });
      await serving.printed(/changed: now two/);
      await until(async () => /two_echo/.test(await tools()) && !/one_echo/.test(await tools()));
      await cli(['call', 'two_echo', 'message=x', '--url', url]);
      expect(remote.calls.at(-1)?.['x-new']).toBe('yes');
      await writeFile(file, '{ "mcpServers": ');
      await serving.printed(/not used.*not JSON/);
      expect(await tools()).toMatch(/two_echo/);
    },
    LONG,
  );

  it(
    'serves the other servers while one is broken, and names it',
    async () => {
      await using remote = await recordingServer();
      const file = await write({
        mcpServers: { good: { url: remote.url }, bad: { command: join(folder, 'no-such-program') } },
      });
      await using serving = startCli(['up', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/ at (http:\S+)/);
      await serving.printed(/bad {2}unavailable: \S/);
      expect((await cli(['call', 'good_echo', 'message=hi', '--url', url])).out).toBe('echo: hi\n');
    },
    LONG,
  );

  proves(
    'choice.era.up',
    'uses the era of --era, except for servers with their own era',
    async () => {
      const one = fileURLToPath(new URL('../../../core/backend/fixtures/dual-server.ts', import.meta.url));
      const dual = { command: process.execPath, args: [one] };
      await write({ mcpServers: { old: dual, fresh: { ...dual, era: 'auto' } } });
      await using serving = startCli(['up', '--port', '0', '--era', 'legacy'], { cwd: folder });
      const [, url = ''] = await serving.printed(/serves \.mcp\.json at (http:\S+)\/mcp/);
      const status = (await (await fetch(`${url}/status`)).json()) as {
        backends: { name: string; mcp_revision?: string }[];
      };
      const revisions = status.backends.map(({ name, mcp_revision }) => [name, mcp_revision]);
      expect(revisions.sort()).toEqual([
        ['fresh', '2026-07-28'],
        ['old', '2025-11-25'],
      ]);
      expect(await cli(['up', '--era', 'ancient'], { cwd: folder })).toMatchObject({
        code: 1,
        err: expect.stringContaining('auto, legacy, modern'),
      });
    },
    LONG,
  );

  proves(
    ['choice.first-start.told', 'choice.first-start.one-install'],
    'reports a server that is being installed, and installs it once although two gateways start it',
    async () => {
      const runner = pausedRunner();
      const env = { npm_config_cache: runner.cache };
      await write({ mcpServers: { slow: { command: runner.file, args: runner.args('pkg'), env } } });
      await using one = startCli(['up', '--port', '0'], { cwd: folder });
      await using two = startCli(['up', '--port', '0'], { cwd: folder });
      const [, url = ''] = await one.printed(/serves \.mcp\.json at (http:\S+)/);
      await Promise.all([one, two].map((gateway) => gateway.printed(/slow {2}still starting, \d+ s so far/)));
      const early = await cli(['call', 'slow_ping', '--url', url, '--wait', '0s']);
      expect([early.code, early.out + early.err]).toEqual([
        10,
        expect.stringMatching(/has no tool slow_ping.*not all tools are here yet: slow \(starting, \d+ s\)/),
      ]);
      expect(runner.notes()).toEqual(['start pkg']);

      await using patient = startCli(['call', 'slow_ping', '--url', url], { cwd: folder });
      await patient.printed(/waiting for slow \(starting, \d+ s\)/);
      runner.release();
      const called = await patient.finished;
      expect(called, called.err).toMatchObject({ code: 0, out: 'pong\n' });
      await Promise.all([one, two].map((gateway) => gateway.printed(/slow is ready after \d+ s, 1 tool\b/)));
      // one program for each gateway, and one for the session of the call
      expect(runner.notes()).toEqual([1, 2, 3].flatMap(() => ['start pkg', 'installed pkg']));
      expect((await cli(['tools', '--url', url])).out).toContain('slow_ping');
    },
    LONG,
  );

  proves(
    'ask.up.timeout',
    'cancels a call without progress after the timeout of the file or the flag, but not while progress comes',
    async () => {
      await using remote = await recordingServer(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
      const every = { command: process.execPath, args: [join(packages, 'server-everything/dist/index.js')] };
      const file = await write({
        mcpServers: { quick: { url: remote.url, timeout: 1 }, patient: { url: remote.url, timeout: 20_000 }, every },
      });
      await using serving = startCli(['up', file, '--port', '0', '--timeout', '2100ms']);
      const [, url = ''] = await serving.printed(/ at (http:\S+)/);
      await serving.printed(/every {2}ready/);
      expect(serving.err()).toContain('note quick: its "timeout" 1 is read as seconds');

      await using peer = await httpPeer(url, { era: '2025-11-25' });
      const said = async (params: JsonObject): Promise<string | undefined> => {
        const { error, result } = await peer.request('tools/call', params);
        return error?.message ?? result?.toBytes().toString();
      };
      const CUT = /did not answer tools\/call within [12]\d{3} ms/;
      expect(await said({ name: 'quick_slow', arguments: {} })).toMatch(CUT);
      expect(await said({ name: 'patient_slow', arguments: {} })).toContain('late');
      const long = { name: 'every_trigger-long-running-operation', arguments: { duration: 4, steps: 20 } };
      expect(await said(long)).toMatch(CUT);
      expect(await said({ ...long, _meta: { progressToken: 'p' } })).toContain('completed');
    },
    LONG,
  );

  it('takes the time limit for a first start from --start-timeout', async () => {
    const runner = pausedRunner();
    await write({ mcpServers: { slow: { command: runner.file, args: runner.args('pkg') } } });
    await using serving = startCli(['up', '--port', '0', '--start-timeout', '4s'], { cwd: folder });
    await serving.printed(/slow did not start in [4-9] s: backend "slow" did not answer/);
  });

  proves('choice.limits.memory-flag', 'refuses a body over --memory-budget', async () => {
    await using server = await recordingServer();
    const file = await write({ mcpServers: { one: { url: server.url } } });
    await using serving = startCli(['up', file, '--port', '0', '--memory-budget', '64KiB']);
    const [, url = ''] = await serving.printed(/serves .* at (http:\S+)/);
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"method":"ping"${' '.repeat(50_000)}}`,
    });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('MEMORY_SPENT')]);
  });

  it('asks before a destructive tool is called, unless it has --no-ask', { timeout: LONG }, async () => {
    await write({ mcpServers: { memory: memory() } });
    const asked: JsonObject[] = [];
    const decline = (_: string, params: JsonObject): JsonObject => {
      asked.push(params);
      return { action: 'decline' };
    };
    const deleteFrom = async (...flags: string[]): Promise<string> => {
      await using serving = startCli(['up', '--port', '0', ...flags], { cwd: folder });
      const [, url = ''] = await serving.printed(/serves \.mcp\.json at (http:\S+)/);
      const client = await testClient(fetch, url, { capabilities: { elicitation: {} }, answer: decline });
      await client.callTool('memory_read_graph');
      return JSON.stringify(await client.callTool('memory_delete_entities', { entityNames: ['a'] }).catch(String));
    };
    expect(await deleteFrom()).toContain('the person declined');
    expect(asked).toMatchObject([{ message: expect.stringContaining('delete_entities of memory') }]);
    expect(await deleteFrom('--no-ask')).toContain('deleted successfully');
    expect(asked).toHaveLength(1);
  });

  proves('ask.up.timeout', 'gives a call ten minutes by default, and never more than a day', () => {
    const { timeouts, limits } = readPlan(upPlan(true));
    expect(timeouts).toEqual({ defaultMs: 600_000, perWorkloadMs: {} });
    expect(limits.callTotalMs).toBe(24 * 3_600_000);
    expect(readPlan(upPlan(true, { timeout: 5_000 })).timeouts.defaultMs).toBe(5_000);
  });

  it.each(['0', '-1s', '5', 'soon', '25h'])('refuses --timeout %s', async (timeout) => {
    const ended = await cli(['up', await write({ mcpServers: {} }), `--timeout=${timeout}`]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('expected a duration above zero') });
  });

  it('lists the searched paths when there is no file', async () => {
    const ended = await cli(['up'], { cwd: folder, env: { HOME: folder, XDG_CONFIG_HOME: undefined } });
    expect(ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/looked for \.mcp\.json, mcp\.json.*toolmgr up FILE/),
    });
  });

  it('reports that no server is left', async () => {
    const ended = await cli(['up', await write({ mcpServers: { off: { command: 'x', disabled: true } } })]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('no server is left to serve') });
  });
});
