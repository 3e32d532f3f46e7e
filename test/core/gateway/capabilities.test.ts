import type { Era, JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { legacySession, modernListen } from '../../support/gateway-streams.ts';
import { proves } from '../../support/proves.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const UI = 'io.modelcontextprotocol/ui';

/** The capabilities that a client of an era is told. */
async function told(kit: TestGateway, era: Era): Promise<JsonObject> {
  if (era === '2025-11-25') return (await legacySession(kit.gateway)).hello.capabilities as JsonObject;
  const client = await kit.client();
  return (await client.request('server/discover')).result?.capabilities as JsonObject;
}

function withExtra(server: FakeServer, capabilities: Readonly<Record<string, JsonObject>>): FakeServer {
  Object.assign(server.capabilities, capabilities);
  return server;
}

describe.each(ERAS)('a client of %s', (era) => {
  proves('choice.capability.tools', 'declares tools when a backend has them', async () => {
    await using kit = await testGateway({ backends: { far: fakeServer().tool('t') } });
    expect(await told(kit, era)).toMatchObject({ tools: {} });
    expect(await (await kit.client({ era })).toolNames()).toEqual(['t']);
  });

  proves('choice.capability.list-changed', 'is told that lists change, and then that one did', async () => {
    const server = fakeServer().tool('t').prompt('p', 'x').resource('memo://1', 'x');
    await using kit = await testGateway({ backends: { far: server }, plan: { limits: { coalesceMs: 1 } } });
    expect(await told(kit, era)).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true },
    });
    const stream =
      era === '2025-11-25'
        ? await (await legacySession(kit.gateway)).stream()
        : await modernListen(kit.gateway, {
            toolsListChanged: true,
            promptsListChanged: true,
            resourcesListChanged: true,
          });
    if (era === '2026-07-28') expect((await stream.next())?.message.method).toContain('acknowledged');
    const nextAfter = async (change: () => void, kind: string): Promise<unknown> => {
      change();
      server.notify(`notifications/${kind}/list_changed`);
      return (await stream.next())?.message.method;
    };
    expect(await nextAfter(() => server.tool('u'), 'tools')).toBe('notifications/tools/list_changed');
    expect(await nextAfter(() => server.prompt('q', 'x'), 'prompts')).toBe('notifications/prompts/list_changed');
    const resources = await nextAfter(() => server.resource('memo://2', 'x'), 'resources');
    expect(resources).toBe('notifications/resources/list_changed');
    await stream.close();
  });

  proves('choice.capability.resource-subscribe', 'may subscribe only when a backend can deliver', async () => {
    const silent = withExtra(fakeServer().resource('memo://1', 'x'), { resources: { listChanged: true } });
    await using without = await testGateway({ backends: { far: silent } });
    expect((await told(without, era)).resources).toEqual({ listChanged: true });
    await using with_ = await testGateway({ backends: { far: fakeServer().resource('memo://1', 'x'), silent } });
    expect((await told(with_, era)).resources).toEqual({ listChanged: true, subscribe: true });
  });

  proves('choice.capability.completions-unroutable', 'gets -32602 for a completion of nothing known', async () => {
    const server = withExtra(fakeServer().prompt('plan', 'x'), { completions: {} });
    server.on('completion/complete', () => ({ completion: { values: ['x'] } }));
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client({ era });
    for (const ref of [
      { type: 'ref/prompt', name: 'gone' },
      { type: 'ref/resource', uri: 'memo://plan' },
      { type: 'ref/resource', uri: 'memo://{gone}' },
      { type: 'ref/prompt' },
    ]) {
      const reply = await client.request('completion/complete', { ref, argument: { name: 'a', value: '' } });
      expect(reply).toMatchObject({ status: 200, error: { code: -32602 } });
    }
    expect(server.received.some(({ method }) => method === 'completion/complete')).toBe(false);
  });

  const extensionIds =
    era === '2026-07-28'
      ? (['choice.capability.extensions', 'ask.modern.extensions'] as const)
      : (['choice.capability.extensions'] as const);
  proves(extensionIds, 'shares extensions with a backend when both declare them', async () => {
    const server = withExtra(fakeServer().tool('t'), { extensions: { [UI]: { mimeTypes: ['text/html'] } } });
    let declared: JsonObject = {};
    server.tool('see', ({ capabilities }) => {
      declared = capabilities;
      return { content: [], _meta: { ui: { resourceUri: 'ui://1' } } };
    });
    await using kit = await testGateway({ backends: { far: server } });
    expect(await told(kit, era)).toMatchObject({ extensions: { [UI]: { mimeTypes: ['text/html'] } } });
    const speaks = await kit.client({ era, capabilities: { extensions: { [UI]: { v: 1 } } } });
    expect(await speaks.callTool('see')).toMatchObject({ _meta: { ui: { resourceUri: 'ui://1' } } });
    expect(declared).toMatchObject({ extensions: { [UI]: { v: 1 } } });
    const plain = await kit.client({ era });
    await plain.callTool('see');
    expect(declared.extensions).toBeUndefined();
  });

  proves('choice.capability.experimental-dropped', 'shares no experimental capability with a backend', async () => {
    const server = withExtra(fakeServer(), { experimental: { secret: {} } });
    let declared: JsonObject = {};
    server.tool('see', ({ capabilities }) => {
      declared = capabilities;
      return { content: [] };
    });
    await using kit = await testGateway({ backends: { far: server } });
    expect((await told(kit, era)).experimental).toBeUndefined();
    const client = await kit.client({ era, capabilities: { experimental: { mine: {} }, elicitation: {} } });
    await client.callTool('see');
    expect(declared).toMatchObject({ elicitation: {} });
    expect(declared.experimental).toBeUndefined();
  });

  proves('choice.capability.legacy-tasks-stripped', 'shares no tasks with a backend, nor sees execution', async () => {
    const server = withExtra(fakeServer(['2025-11-25']), { tasks: { requests: { tools: { call: {} } } } });
    let declared: JsonObject = {};
    server.tool(
      'see',
      (context) => {
        declared = context.capabilities;
        return { content: [] };
      },
      { execution: { taskSupport: 'optional' }, title: 'See' },
    );
    await using kit = await testGateway({ backends: { far: server } });
    expect((await told(kit, era)).tasks).toBeUndefined();
    const client = await kit.client({ era, capabilities: { tasks: { list: {} }, elicitation: {} } });
    const { result } = await client.request('tools/list');
    expect(result?.tools).toEqual([{ name: 'see', inputSchema: { type: 'object' }, title: 'See' }]);
    await client.callTool('see');
    expect(declared.tasks).toBeUndefined();
  });
});
