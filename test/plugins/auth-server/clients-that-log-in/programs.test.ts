import { spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientDocument, publicClient } from '../../../support/client-document.ts';
import { httpBrowser } from '../../../support/http-browser.ts';
import { type RigName, rig } from '../../../support/rig.ts';
import { freePort, type SignInGateway, signInGateway } from '../../../support/sign-in-gateway.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const BIN = new URL('../../../../node_modules/.bin/', import.meta.url).pathname;
const TOOLS = ['notes_whoami', 'files_whoami'];
const MS = 120_000;

let gateway: SignInGateway;
const home = temporaryFolderOfFile('clients');

beforeAll(async () => {
  gateway = await signInGateway();
}, MS);
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** An environment in which nothing opens a real browser and nothing of this user is read. */
const environment = (folder: string): Record<string, string> => ({
  PATH: join(process.execPath, '..'),
  HOME: join(home, folder),
  BROWSER: '/bin/false',
});

const AUTHORIZATION_URL = /https?:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+(?=\s)/;

/** The authorization URL that a program prints for its user. */
function urlFrom(...streams: readonly (EventEmitter | null)[]): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    for (const stream of streams) {
      stream?.on('data', (chunk: Buffer) => {
        printed += String(chunk);
        const [url] = AUTHORIZATION_URL.exec(printed) ?? [];
        if (url !== undefined) resolve(url);
      });
      stream?.on('end', () => reject(new Error(`no authorization URL: ${printed}`)));
    }
  });
}

describe('mcp-remote', () => {
  async function callsThrough(port: number, more: readonly string[] = []): Promise<URL> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(BIN, 'mcp-remote'), gateway.url, `${port}`, '--host', '127.0.0.1', ...more],
      env: { ...environment('mcp-remote'), MCP_REMOTE_CONFIG_DIR: join(home, `mcp-remote-${port}`) },
      stderr: 'pipe',
    });
    const client = new Client({ name: 'test', version: '1' });
    const printed = urlFrom(transport.stderr);
    const connected = client.connect(transport, { timeout: MS });
    const url = await Promise.race([printed, connected.then(() => Promise.reject(new Error('it did not log in')))]);
    await httpBrowser().open(url);
    await connected;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS));
    for (const name of TOOLS) {
      expect((await client.callTool({ name, arguments: {} })).content).toEqual([{ type: 'text', text: 'ada' }]);
    }
    await client.close();
    return new URL(url);
  }

  it(
    'registers, signs in with its own callback, and serves the tools over stdio',
    async () => {
      const { searchParams } = await callsThrough(await freePort());
      expect(searchParams.get('client_id')).toMatch(/^[0-9a-f-]{36}$/);
    },
    MS,
  );

  it(
    'identifies itself by its metadata document',
    async () => {
      const port = await freePort();
      await using document = await clientDocument(publicClient(`http://127.0.0.1:${port}/oauth/callback`));
      const { searchParams } = await callsThrough(port, ['--client-metadata-url', document.id]);
      expect(searchParams.get('client_id')).toBe(document.id);
    },
    MS,
  );
});

describe('the Inspector', () => {
  const call = async (folder: string, port: number, more: readonly string[] = []) => {
    const redirect = `http://127.0.0.1:${port}/oauth/callback`;
    const args = [
      ...['--cli', '--server-url', gateway.url, '--transport', 'http', '--method', 'tools/call'],
      ...['--tool-name', 'files_whoami', '--format', 'json', '--callback-url', redirect, ...more],
    ];
    // without a terminal it logs in only when it may open a browser itself
    const env = { ...environment(folder), MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' };
    const program = spawn(process.execPath, [join(BIN, 'mcp-inspector'), ...args], { env });
    const { stdout, stderr } = program;
    let result = '';
    stdout.on('data', (chunk: Buffer) => {
      result += String(chunk);
    });
    return { program, ended: once(program, 'exit'), url: urlFrom(stdout, stderr), result: () => result };
  };

  it(
    'registers, signs in with its own callback, and calls a tool; the next call uses the stored token',
    async () => {
      const port = await freePort();
      const first = await call('inspector', port);
      await httpBrowser().open(await first.url);
      expect(await first.ended).toEqual([0, null]);
      expect(first.result()).toContain('ada');
      const second = await call('inspector', port, ['--stored-auth-only']);
      second.url.catch(() => {});
      expect(await second.ended).toEqual([0, null]);
      expect(second.result()).toContain('ada');
    },
    MS,
  );

  it(
    'identifies itself by its metadata document',
    async () => {
      const port = await freePort();
      await using document = await clientDocument(publicClient(`http://127.0.0.1:${port}/oauth/callback`));
      const { url, ended, result } = await call('inspector-document', port, ['--client-metadata-url', document.id]);
      expect(new URL(await url).searchParams.get('client_id')).toBe(document.id);
      await httpBrowser().open(await url);
      expect(await ended).toEqual([0, null]);
      expect(result()).toContain('ada');
    },
    MS,
  );
});

const REDIRECT = 'http://127.0.0.1:33419/callback';
const SCRIPT = join(import.meta.dirname, 'log_in.py');

describe.each<RigName>(['mcp-python-1', 'mcp-python-2'])('the OAuth client of %s', (name) => {
  const found = rig(name);
  const sentence = 'signs in and calls tools';
  if ('missing' in found) return it.skip(`${sentence} (skipped: ${found.missing})`);

  async function run(document: string) {
    const python = join((found as { folder: string }).folder, 'venv/bin/python');
    const program = spawn(python, [SCRIPT, gateway.url, REDIRECT, document, ...TOOLS], {
      env: environment(name),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(program, 'exit');
    let last = '';
    for await (const line of createInterface(program.stdout)) {
      last = line;
      if (!line.startsWith('OPEN ')) continue;
      const callback = await httpBrowser().open(line.slice(5), REDIRECT);
      program.stdin.write(`${callback.href}\n`);
    }
    expect(await ended).toEqual([0, null]);
    return JSON.parse(last) as object;
  }

  it(
    `registers, ${sentence}`,
    async () => {
      expect(await run('-')).toEqual({
        client: expect.stringMatching(/^[0-9a-f-]{36}$/),
        hasRefresh: true,
        tools: expect.arrayContaining(TOOLS),
        texts: ['ada', 'ada'],
      });
    },
    MS,
  );

  it(
    `identifies itself by its metadata document, ${sentence}`,
    async () => {
      await using document = await clientDocument(publicClient(REDIRECT));
      expect(await run(document.id)).toMatchObject({ client: document.id, texts: ['ada', 'ada'] });
    },
    MS,
  );
});
