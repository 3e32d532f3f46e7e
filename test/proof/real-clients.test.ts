import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '@toolmgr/core';
import getPort from 'get-port';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ConformanceServer, startConformanceServer } from '../support/conformance-server.ts';
import { until } from '../support/until.ts';
import { type PythonFound, pythonWithMcp } from './python/environment.ts';
import { IS_LONG } from './rig/cells.ts';
import { type GatewayBefore, gatewayBefore } from './wire/gateway-before.ts';
import { type InspectorEra, inspect } from './wire/inspector.ts';
import { listening, published } from './wire/published.ts';
import { SDK_CLIENTS } from './wire/sdk-clients.ts';

const LONG = 120_000;
const INSTALL_MS = 240_000;
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

const found: PythonFound = await pythonWithMcp();
if ('missing' in found) console.warn(`skipped: the tests with Python (${found.missing})`);
const python = 'python' in found ? found.python : '';

// One gateway before a legacy program and a server of both revisions: every client meets both.
let both: ConformanceServer;
let gateway: GatewayBefore;
beforeAll(async () => {
  both = await startConformanceServer();
  gateway = await gatewayBefore({ every: published('everything'), both: { url: both.url } });
}, LONG);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await both?.[Symbol.asyncDispose]();
});

const isIdle = (): boolean => gateway.gateway.counts().callsInFlight === 0;

describe.each(Object.entries(SDK_CLIENTS))('%s', (_, { isModern, connect }) => {
  const connected = async () => {
    const client = await connect(gateway.url);
    onTestFinished(() => client[Symbol.asyncDispose]());
    return client;
  };

  it('finds its revision, lists and calls', async () => {
    const client = await connected();
    expect(client.version).toBe(isModern ? MODERN : LEGACY);
    expect(await client.toolNames()).toEqual(expect.arrayContaining(['echo', 'get-sum', 'test_simple_text']));
    expect(await client.call('echo', { message: 'hi' })).toBe('Echo: hi');
    expect(await client.call('test_simple_text')).toBe('This is a simple text response for testing.');
  });

  it('receives progress of backends of both revisions', async () => {
    const client = await connected();
    const seen: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }) => void seen.push(progress);
    await client.call('trigger-long-running-operation', { duration: 0.2, steps: 2 }, { onprogress });
    await client.call('test_tool_with_progress', {}, { onprogress });
    expect(seen).toEqual([1, 2, 0, 50, 100]);
  });

  it('cancels a call and continues', async () => {
    const client = await connected();
    const leaving = new AbortController();
    const calling = client.call(
      'trigger-long-running-operation',
      { duration: 30, steps: 1 },
      { signal: leaving.signal },
    );
    const cancelled = expect(calling).rejects.toThrow();
    await until(() => !isIdle());
    leaving.abort(new Error('no longer wanted'));
    await cancelled;
    await until(isIdle);
    expect(await client.call('echo', { message: 'still here' })).toBe('Echo: still here');
  });

  it('answers questions of backends of both revisions', async () => {
    const client = await connected();
    expect(await client.toolNames()).toContain('trigger-elicitation-request');
    expect(await client.call('trigger-elicitation-request')).toContain('provided the requested information');
    expect(await client.call('test_input_required_result_elicitation')).toContain('Ada');
    expect(gateway.gateway.counts()).toMatchObject({ parked: 0 });
  });

  it('reads resources, gets prompts and completes', async () => {
    const client = await connected();
    const document = 'demo://resource/static/document/features.md';
    expect(await client.resourceUris()).toEqual(expect.arrayContaining([document, 'test://static-binary']));
    expect(await client.read(document)).toMatchObject({ uri: document, mimeType: 'text/markdown' });
    expect(await client.read('test://static-binary')).toMatchObject({ mimeType: 'image/png' });
    expect(await client.promptNames()).toEqual(expect.arrayContaining(['args-prompt', 'test_simple_prompt']));
    expect(await client.prompt('args-prompt', { city: 'Rome' })).toContain('Rome');
    expect(await client.prompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' })).toContain("arg2='b'");
    expect(await client.complete('completable-prompt', 'department', 'E')).toContain('Engineering');
    expect(await client.complete('test_prompt_with_arguments', 'arg1', 'par')).toContain('paris');
  });
});

describe.each(['legacy', 'auto', 'modern'] as const)('the Inspector in %s', (era: InspectorEra) => {
  const run = async (method: string, ...more: readonly string[]): Promise<JsonObject> => {
    const { result, printed } = await inspect(gateway.url, era, method, more);
    expect(result, printed).toBeDefined();
    return result as JsonObject;
  };
  const namesIn = (items: unknown, key: string): unknown[] => (items as JsonObject[]).map((item) => item[key]);

  it('lists tools, resources, templates and prompts', { timeout: LONG }, async () => {
    const [tools, resources, prompts] = await Promise.all([
      run('tools/list'),
      run('resources/list'),
      run('prompts/list'),
    ]);
    expect(namesIn(tools.tools, 'name')).toEqual(expect.arrayContaining(['echo', 'test_simple_text']));
    expect(namesIn(resources.resources, 'uri')).toEqual(expect.arrayContaining(['test://static-text']));
    expect(namesIn(prompts.prompts, 'name')).toEqual(expect.arrayContaining(['args-prompt', 'test_simple_prompt']));
    const templates = await run('resources/templates/list');
    expect(namesIn(templates.resourceTemplates, 'uriTemplate')).toContain('test://template/{id}/data');
  });

  it('calls tools, reads and gets prompts', { timeout: LONG }, async () => {
    const [echo, pixel, read] = await Promise.all([
      run('tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'),
      run('tools/call', '--tool-name', 'test_image_content'),
      run('resources/read', '--uri', 'test://template/7/data'),
    ]);
    expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    expect(pixel.content).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
    expect(JSON.stringify(read.contents)).toContain('Data for ID: 7');
    const prompt = await run('prompts/get', '--prompt-name', 'args-prompt', '--prompt-args', 'city=Rome');
    expect(JSON.stringify(prompt.messages)).toContain('Rome');
    const slow = ['--tool-name', 'trigger-long-running-operation', '--tool-arg', 'duration=0.2', 'steps=2'];
    expect(JSON.stringify((await run('tools/call', ...slow)).content)).toContain('completed');
  });

  it('gets an error for an unknown tool', { timeout: LONG }, async () => {
    const { code, printed } = await inspect(gateway.url, era, 'tools/call', ['--tool-name', 'unknown-name']);
    expect(code).not.toBe(0);
    expect(printed).toContain('unknown-name');
  });

  // a lost connection cancels in the stateless revision only
  it.skipIf(era === 'legacy')(
    'leaves no call behind when it is killed during the call',
    { timeout: LONG },
    async () => {
      const killing = new AbortController();
      const slow = ['--tool-name', 'trigger-long-running-operation', '--tool-arg', 'duration=30', 'steps=1'];
      const run = inspect(gateway.url, era, 'tools/call', slow, killing.signal);
      await until(() => !isIdle());
      killing.abort();
      expect((await run).code).not.toBe(0);
      await until(isIdle);
    },
  );
});

describe.skipIf(python === '')(
  'the mcp package of Python',
  () => {
    it.each([
      ['legacy', LEGACY],
      ['auto', MODERN],
      [MODERN, MODERN],
    ])('is a client in mode %s', { timeout: LONG }, async (mode, version) => {
      const script = join(import.meta.dirname, 'python/client.py');
      const { stdout } = await promisify(execFile)(python, [script, gateway.url, mode], { timeout: LONG });
      const seen = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
      expect(seen).toMatchObject({
        version,
        tools: expect.arrayContaining(['echo', 'test_simple_text', 'trigger-elicitation-request']),
        echo: 'Echo: hi',
        progress: [1, 2],
        cancelled: true,
        after: 'Echo: still here',
        elicited: expect.stringContaining('Ada'),
        elicitedLegacy: expect.stringContaining('provided the requested information'),
        resources: expect.arrayContaining(['test://static-text', 'demo://resource/static/document/features.md']),
        read: 'This is the content of the static text resource.',
        prompts: expect.arrayContaining(['args-prompt', 'test_simple_prompt']),
        prompt: expect.stringContaining('Rome'),
      });
      await until(isIdle);
    });

    describe.each(['stdio', 'streamable-http'] as const)('is a server over %s', (transport) => {
      // the gateway's two sides are independent: the short form has each transport, and all clients over one of them
      const clients = Object.entries(SDK_CLIENTS);
      it.each(IS_LONG || transport === 'stdio' ? clients : clients.slice(0, 1))(
        'to %s',
        { timeout: LONG },
        async (_, { connect }) => {
          const script = join(import.meta.dirname, 'python/server.py');
          const before = await gatewayBefore({ python: await serverOver(transport, script) });
          onTestFinished(() => before[Symbol.asyncDispose]());
          await using client = await connect(before.url);
          expect(await client.toolNames()).toContain('py_greet');
          expect(await client.call('py_echo', { message: 'ü😀' })).toBe('python: ü😀');
          const seen: number[] = [];
          await client.call('py_progress', {}, { onprogress: ({ progress }) => void seen.push(progress) });
          expect(seen).toEqual([1, 2]);
          expect(await client.call('py_greet')).toBe('hello Ada');
          expect(await client.read('py://note')).toMatchObject({ text: 'a note from Python' });
          expect(await client.prompt('py_prompt', { topic: 'gateways' })).toBe('Think about gateways');
          const leaving = new AbortController();
          const cancelled = expect(client.call('py_wait', {}, { signal: leaving.signal })).rejects.toThrow();
          await until(() => before.gateway.counts().callsInFlight === 1);
          // the call must have reached Python: what is cancelled on the way never begins there
          await until(async () => (await client.call('py_echo', { message: 'there' })) === 'python: there');
          leaving.abort(new Error('no longer wanted'));
          await cancelled;
          await until(async () => (await client.call('py_left')).includes('cancelled'));
          expect(before.gateway.counts()).toMatchObject({ callsInFlight: 0, parked: 0 });
        },
      );
    });
  },
  INSTALL_MS,
);

/** The Python server as a backend; over HTTP it listens until the test has ended. */
async function serverOver(transport: 'stdio' | 'streamable-http', script: string) {
  if (transport === 'stdio') return { file: python, args: [script, transport] };
  const port = await getPort({ host: '127.0.0.1' });
  const server = await listening({ file: python, args: [script, transport, `${port}`] }, port);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url };
}
