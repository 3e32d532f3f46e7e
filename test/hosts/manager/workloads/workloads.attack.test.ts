import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRecord, readWorkloads, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { configOf } from './changes.ts';
import { LONG, smallConfig } from './small.ts';

const BASE = '/api/v1beta/workloads';

let manager: StartedManager;

beforeAll(async () => {
  manager = await startManager();
});

afterAll(() => manager.stop());

describe('attacks on workloads over HTTP', () => {
  it('names with paths reach no file', async () => {
    await mkdir(join(manager.state, 'secret'), { recursive: true });
    await writeFile(join(manager.state, 'secret', 'workload.log'), 'outside');
    const names = [
      '..',
      '../secret',
      '..%2Fsecret',
      '%2e%2e%2fsecret',
      '.',
      '.new-x',
      'a%00b',
      'a%0d%0aX: y',
      '%2Fetc',
    ];
    for (const name of names) {
      for (const path of ['', '/export', '/status', '/logs', '/proxy-logs']) {
        const answer = await manager.request('GET', `${BASE}/${name}${path}`);
        expect([400, 404], `${name}${path}`).toContain(answer.status);
        expect(answer.text).not.toContain('outside');
      }
      for (const verb of ['delete', 'stop', 'restart']) {
        const body = { names: [decodeURIComponent(name)] };
        expect((await manager.request('POST', `${BASE}/${verb}`, body)).status, name).toBe(400);
      }
    }
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect([400, 404]).toContain((await manager.request('GET', `${BASE}/${name}`)).status);
    }
    for (const group of ['../x', 'a/b', '.', 'A  B']) {
      expect((await manager.request('POST', '/api/v1beta/groups', { name: group })).status).toBe(400);
    }
  });

  it.each(['error', 'lines'])(
    'a server that fails with a long text (%s) does not fill the answer',
    async (how) => {
      const config = smallConfig('long');
      config.process.args = [join(import.meta.dirname, 'hostile-server.mjs'), how];
      const refused = await manager.request('POST', `${BASE}/import`, config);
      expect([refused.status, refused.body.code]).toEqual([422, 'unprocessable']);
      expect(refused.text.length).toBeLessThan(10_000);
      expect(refused.text).toContain('EEE');
    },
    LONG,
  );

  it('an authorization file that is another file of the user, a pipe or a device is not read into the answer', async () => {
    const secret = join(manager.home, 'passwords.txt');
    await writeFile(secret, 'root:very-secret: 1\nother-secret: 2\n');
    const pipe = join(manager.home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const large = join(manager.home, 'large.yaml');
    await writeFile(large, `# ${'x'.repeat(2_000_000)}`);
    for (const [path, why] of [
      [secret, 'unknown members'],
      [pipe, 'not a regular file'],
      ['/dev/zero', 'not a regular file'],
      [large, 'more than 1048576 bytes'],
    ]) {
      const body = { name: 'x', url: 'http://127.0.0.1:9/mcp', authz_config: path };
      const { status, text } = await manager.request('POST', BASE, body);
      expect([status, text.includes(why ?? ''), text.includes('secret:')]).toEqual([400, true, false]);
      expect(text).not.toContain('other-secret');
    }
  });

  it('bodies with flags, shell text, line breaks and prototypes are refused or kept as text', async () => {
    const bodies = [
      { name: '--help', image: 'example/x:1' },
      { name: 'x', image: '--privileged' },
      { name: 'x', image: 'example/x:1; rm -rf /' },
      { name: 'x', image: 'file:///etc/passwd' },
      { name: 'x', url: 'file:///etc/passwd' },
      { name: 'x', url: 'https://user:pass@far.example/mcp' },
      {
        name: 'x',
        url: 'https://far.example/mcp',
        header_forward: { add_plaintext_headers: { 'X-A': 'a\r\nHost: b' } },
      },
      { name: 'x', image: 'example/x:1', volumes: ['../../etc:/etc'] },
      { name: 'x', image: 'example/x:1', volumes: ['/etc/$(id):/etc'] },
      { name: 'x', image: 'example/x:1', authz_config: '../../../etc/passwd' },
      { name: 'x', image: 'uvx://a', runtime_config: { builder_image: 'a\nRUN id' } },
    ];
    for (const body of bodies) {
      const answer = await manager.request('POST', BASE, body);
      expect([400, 404], `${JSON.stringify(body)}: ${answer.text}`).toContain(answer.status);
      expect(answer.text).not.toMatch(/root:|user:pass/);
    }
    expect(await readWorkloads(manager.state)).toEqual([]);
  });

  it('a log of a gigabyte answers its last lines without being read whole', async () => {
    await createRecord(manager.state, configOf('loud', 'x'));
    const path = join(workloadDir(manager.state, 'loud'), 'workload.log');
    const { truncate, appendFile } = await import('node:fs/promises');
    await writeFile(path, '');
    await truncate(path, 1_000_000_000); // without line breaks
    await appendFile(path, `\n${Array.from({ length: 1_500 }, (_, n) => `line ${n}\n`).join('')}`);
    const before = process.memoryUsage().rss;
    const answer = await manager.request('GET', `${BASE}/loud/logs`);
    expect(answer.status).toBe(200);
    expect(answer.text.split('\n')).toHaveLength(1_001);
    expect(answer.text.startsWith('line 500\n')).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    await truncate(path, 0);
    await truncate(path, 1_000_000_000);
    expect((await manager.request('GET', `${BASE}/loud/logs`)).text.length).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  it('a followed log sends new lines and ends with the workload', async () => {
    await createRecord(manager.state, configOf('followed', 'x'));
    const path = join(workloadDir(manager.state, 'followed'), 'workload.log');
    await writeFile(path, 'one\n');
    const response = await fetch(`${manager.url}${BASE}/followed/logs?follow=true`, {
      headers: { authorization: `Bearer ${manager.token}` },
    });
    const { appendFile } = await import('node:fs/promises');
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text === 'one\n') await appendFile(path, 'two\n');
      if (text === 'one\ntwo\n') await manager.request('DELETE', `${BASE}/followed`);
    }
    expect(text).toBe('one\ntwo\n');
  });
});
