import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Backend, RawObject } from '@toolmgr/core';
import getPort from 'get-port';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BackendError } from '../../../core/mcp/errors.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { callOf, managerWith, published, send, stdioBackend, testOwner, textOf } from './support.ts';

/** The Everything server on its own port; it takes no port 0, so a free one is found first. */
async function everythingOver(kind: 'streamableHttp' | 'sse'): Promise<Backend> {
  const port = await getPort({ host: '127.0.0.1' });
  const child: ChildProcess = spawn(process.execPath, [published('everything'), kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const path = kind === 'sse' ? '/sse' : '/mcp';
  const url = `http://127.0.0.1:${port}${path}`;
  await until(() =>
    fetch(`http://127.0.0.1:${port}/nothing`).then(
      () => true,
      () => false,
    ),
  );
  return { name: 'every', transport: kind === 'sse' ? 'sse' : 'streamable-http', url };
}

const TRANSPORTS = {
  stdio: async () => stdioBackend('every', published('everything')),
  'streamable HTTP': () => everythingOver('streamableHttp'),
  'the old SSE': () => everythingOver('sse'),
} as const;

const FULL = { elicitation: {}, roots: { listChanged: true }, sampling: {} };

describe.each(Object.entries(TRANSPORTS))('the Everything server over %s', (name, backend) => {
  const idOf = { stdio: 'ask.backend.stdio', 'streamable HTTP': 'ask.backend.streamable-http' } as const;
  const id = name === 'stdio' || name === 'streamable HTTP' ? idOf[name] : 'ask.backend.sse';

  proves(id, 'lists and calls', async () => {
    const { manager } = await managerWith([await backend()]);
    const listing = manager.listings('').get('every');
    expect(listing?.era).toBe('2025-11-25');
    expect(listing?.tools.map((tool) => tool.key)).toContain('get-sum');
    expect(listing?.prompts.length).toBeGreaterThan(0);
    expect(listing?.templates.length).toBeGreaterThan(0);
    const sum = await send(manager, { backend: 'every', original: 'get-sum', arguments: { a: 1, b: 2 } });
    expect(textOf(sum)).toContain('3');
    const uri = listing?.resources[0]?.key ?? '';
    const read = await send(manager, { backend: 'every', method: 'resources/read', original: uri });
    expect(read.bytes.toString()).toContain(uri);
    const prompt = await send(manager, { backend: 'every', method: 'prompts/get', original: 'simple-prompt' });
    expect(prompt.value.messages).toBeDefined();
  });

  proves(
    'ask.legacy.progress',
    'gives progress under the token of the client and every other member as it came',
    async () => {
      const { manager } = await managerWith([await backend()]);
      const { call, told } = callOf({
        backend: 'every',
        original: 'trigger-long-running-operation',
        arguments: { duration: 0.2, steps: 2 },
        client: { progressToken: Buffer.from('"my token"') },
      });
      await manager.send(call);
      const progress = told.filter(({ method }) => method === 'notifications/progress');
      expect(progress.map(({ params }) => params)).toEqual([
        '{"progress":1,"total":2,"progressToken":"my token"}',
        '{"progress":2,"total":2,"progressToken":"my token"}',
      ]);
    },
  );

  proves('choice.capability.mirrored', 'offers other tools to a class that declares more', async () => {
    const { manager, listed } = await managerWith([await backend()]);
    const { owner } = testOwner('session:full', FULL, async () => ({ result: Buffer.from('{"roots":[]}') }));
    await manager.prepareOwner(owner);
    const base =
      manager
        .listings('')
        .get('every')
        ?.tools.map((tool) => tool.key) ?? [];
    const full =
      manager
        .listings(owner.capabilityClass)
        .get('every')
        ?.tools.map((tool) => tool.key) ?? [];
    expect(base).not.toContain('trigger-elicitation-request');
    expect(full).toContain('trigger-elicitation-request');
    expect(listed).toContain(`every/${owner.capabilityClass}`);
  });

  proves('ask.legacy.elicitation', 'sends its request to the client of the call and gets the response', async () => {
    const { manager } = await managerWith([await backend()]);
    const asked: string[] = [];
    const { owner } = testOwner('session:full', FULL, async () => ({ result: Buffer.from('{"roots":[]}') }));
    await manager.prepareOwner(owner);
    const result = await send(manager, {
      backend: 'every',
      original: 'trigger-elicitation-request',
      owner,
      client: {
        request: async (method, params) => {
          asked.push(`${method} ${RawObject.parse(params).has('message')}`);
          return { result: Buffer.from('{"action":"decline"}') };
        },
      },
    });
    expect(asked.filter((line) => !line.startsWith('roots'))).toEqual(['elicitation/create true']);
    expect(textOf(result)).toMatch(/declined/i);
  });
});

describe('published stdio servers', () => {
  it('serve files of a folder', async () => {
    const folder = temporaryFolder('backend-files');
    writeFileSync(join(folder, 'greeting.txt'), 'hello from a file');
    const { manager } = await managerWith([stdioBackend('files', published('filesystem'), [folder])]);
    const read = { path: join(folder, 'greeting.txt') };
    const result = await send(manager, { backend: 'files', original: 'read_text_file', arguments: read });
    expect(textOf(result)).toBe('hello from a file');
  });

  it('keep their state', async () => {
    const folder = temporaryFolder('backend-memory');
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.json') };
    const command = { file: process.execPath, args: [published('memory')], env };
    const { manager } = await managerWith([{ name: 'memory', transport: 'stdio', command }]);
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote the first program'] }];
    await send(manager, { backend: 'memory', original: 'create_entities', arguments: { entities } });
    const graph = await send(manager, { backend: 'memory', original: 'read_graph' });
    expect(graph.bytes.toString()).toContain('wrote the first program');
  });

  proves(['ask.backend.stateful', 'ask.backend.isolated'], 'keep state per session and apart from others', async () => {
    const { manager } = await managerWith([stdioBackend('thinking', published('sequential-thinking'))]);
    const think = (key: string, thoughtNumber: number) => {
      const thought = { thought: 'so', nextThoughtNeeded: true, thoughtNumber, totalThoughts: 5 };
      const sent = { backend: 'thinking', original: 'sequentialthinking', arguments: thought };
      return send(manager, { ...sent, owner: testOwner(key).owner }).then((result) => JSON.parse(textOf(result)));
    };
    expect((await think('session:a', 1)).thoughtHistoryLength).toBe(1);
    expect((await think('session:a', 2)).thoughtHistoryLength).toBe(2);
    expect((await think('session:b', 1)).thoughtHistoryLength).toBe(1);
    expect(manager.counts().processes).toBe(3);
    manager.release('session:b');
    await until(() => manager.counts().processes === 2);
  });

  it('deliver resource updates to the owner that watches', async () => {
    const { manager } = await managerWith([stdioBackend('every', published('everything'))]);
    const { owner, updated } = testOwner('session:watch');
    const uri = manager.listings('').get('every')?.resources[0]?.key ?? '';
    await manager.watch('every', uri, owner);
    await manager.watch('every', uri, owner);
    await send(manager, { backend: 'every', original: 'toggle-subscriber-updates', owner });
    await until(() => updated.length > 0);
    expect(JSON.parse(updated[0] ?? '')).toEqual({ uri });
    await manager.unwatch('every', uri, owner);
    await manager.unwatch('every', uri, owner);
  });

  proves('choice.capability.logging', 'pass the log level on, also to a connection that opens later', async () => {
    const { manager } = await managerWith([stdioBackend('every', published('everything'))]);
    const { owner, logged } = testOwner('session:log');
    manager.setLogLevel(owner, 'debug');
    await send(manager, { backend: 'every', original: 'toggle-simulated-logging', owner });
    await until(() => logged.length > 0);
  });

  it('answer a completion for a prompt under its own name', async () => {
    const { manager } = await managerWith([stdioBackend('every', published('everything'))]);
    const params =
      '{"ref":{"type":"ref/prompt","name":"x_completable-prompt"},"argument":{"name":"department","value":"E"}}';
    const sent = {
      backend: 'every',
      method: 'completion/complete',
      kind: 'prompt',
      original: 'completable-prompt',
      params,
    } as const;
    const result = await send(manager, sent);
    expect(result.value.completion).toMatchObject({ values: expect.arrayContaining(['Engineering']) });
  });

  it('say in their own words what is wrong', async () => {
    const { manager } = await managerWith([stdioBackend('every', published('everything'))]);
    const failed = send(manager, { backend: 'every', method: 'prompts/get', original: 'no-such-prompt' });
    await expect(failed).rejects.toThrow(BackendError);
    await expect(failed).rejects.toMatchObject({ code: -32602 });
  });
});
