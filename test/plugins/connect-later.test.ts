import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import type { Era, JsonObject } from '@toolmgr/core';
import { fakeServer, type TestClientOptions, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import engine from '../../plugins/composite/engine/index.ts';
import { httpBackend, httpServer, legacyAnswers, modernAnswers } from '../core/backend/support.ts';
import { audited } from '../support/audited.ts';
import { type ConnectLater, connectLater, LINK, SENTENCE } from '../support/connect-later.ts';
import { loopbackServer } from '../support/loopback-server.ts';
import { proves } from '../support/proves.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const URL_MODE = { elicitation: { url: {} } };
const CALL = { name: 'echo', arguments: {} };

async function withPlugins(
  later: ConnectLater,
  uses: readonly { readonly use: string; readonly with?: unknown }[],
  backend: Era = '2026-07-28',
): Promise<TestGateway> {
  const far = await httpServer(backend === '2026-07-28' ? modernAnswers() : legacyAnswers());
  return testGateway({
    catalogue,
    plugins: [later.plugin, engine],
    plan: { plugins: [{ use: later.plugin.address }, ...uses] as never },
    backends: { far: httpBackend(far.url), near: fakeServer().tool('near', 'near') },
  });
}

async function texts(
  kit: TestGateway,
  name: string,
  given: JsonObject,
  options: TestClientOptions,
): Promise<[boolean, string]> {
  const client = await kit.client(options);
  const { result, error } = await client.request('tools/call', { name, arguments: given });
  if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
  return [result?.isError === true, (result?.content as { text: string }[])[0]?.text ?? ''];
}

describe.each(ERAS)('an account that an inner call needs, %s client', (era) => {
  for (const capabilities of [{}, URL_MODE]) {
    const who = capabilities === URL_MODE ? 'with' : 'without';
    proves(
      'choice.connect-later.inner',
      `is named with its link by a composite tool, ${who} url elicitation`,
      async () => {
        const later = connectLater();
        const steps = [
          { id: 'first', type: 'tool', tool: 'near' },
          { id: 'second', type: 'tool', tool: 'echo', dependsOn: ['first'] },
        ];
        const compositeTools = [{ name: 'both', description: 'both', parameters: { type: 'object' }, steps }];
        await using kit = await withPlugins(later, [{ use: engine.address, with: { compositeTools } }]);
        const [isError, said] = await texts(kit, 'both', {}, { era, capabilities });
        expect(isError).toBe(true);
        expect(said).toContain(SENTENCE);
        expect(said).toContain(LINK);
        later.isConnected = true;
        expect((await texts(kit, 'both', {}, { era, capabilities }))[0]).toBe(false);
        expect(kit.logged).toEqual([]);
      },
    );

    proves('choice.connect-later.inner', `is named with its link by a script, ${who} url elicitation`, async () => {
      const later = connectLater();
      await using kit = await withPlugins(later, [
        { use: 'code-mode/quickjs' },
        { use: 'code-mode/execute-script', with: { scriptTimeout: '30s', toolCallTimeout: '20s' } },
      ]);
      const script = { script: "return await callTool('echo', {})" };
      const run = () => texts(kit, 'execute_tool_script', script, { era, capabilities });
      const [isError, said] = await run();
      expect(isError).toBe(true);
      expect(said).toContain(SENTENCE);
      expect(said).toContain(LINK);
      expect(kit.logged).toEqual([]);
    });
  }
});

proves('choice.connect-later.inner', 'an account that call_tool needs is asked for as by a direct call', async () => {
  const later = connectLater();
  await using kit = await withPlugins(later, [{ use: 'optimizer/search' }, { use: 'optimizer/tools', with: {} }]);
  const era = '2025-11-25'; // the only one that the optimizer serves
  const given = { tool_name: 'echo', parameters: {} };
  const client = await kit.client({ era, capabilities: URL_MODE });
  const { error } = await client.request('tools/call', { name: 'call_tool', arguments: given });
  expect(error).toMatchObject({ code: -32042, data: { elicitations: [{ mode: 'url', url: LINK }] } });
  expect(await texts(kit, 'call_tool', given, { era })).toEqual([true, expect.stringContaining(LINK)]);
  later.isConnected = true;
  expect(await texts(kit, 'call_tool', given, { era })).toEqual([false, 'modern']);
  expect(kit.logged).toEqual([]);
});

describe('the records of a call that needs an account', () => {
  for (const [era, capabilities] of [
    ['2025-11-25', URL_MODE],
    ['2025-11-25', {}],
    ['2026-07-28', {}],
  ] as const) {
    proves(
      'choice.connect-later.recorded',
      `say that it was denied, and why: ${era}, ${JSON.stringify(capabilities)}`,
      async () => {
        const later = connectLater();
        const far = await httpServer(modernAnswers());
        await using at = await audited({ far: httpBackend(far.url) }, { plugins: [later.plugin] });
        const client = await at.kit.client({ era, capabilities });
        await client.request('tools/call', CALL);
        const lines = (await at.lines(1)).filter(({ target }) => target.method === 'tools/call');
        expect(lines).toMatchObject([
          { outcome: 'denied', metadata: { extra: { refusal: SENTENCE, backend_name: 'far' } } },
        ]);
        expect(at.kit.logged).toEqual([]);
      },
    );
  }

  it('say that it succeeded, in two rounds, when the link was opened', async () => {
    const later = connectLater();
    const far = await httpServer(modernAnswers());
    await using at = await audited({ far: httpBackend(far.url) }, { plugins: [later.plugin] });
    const client = await at.kit.client({
      capabilities: URL_MODE,
      answer: () => {
        later.isConnected = true;
        return { action: 'accept' };
      },
    });
    expect((await client.callTool('echo')).content).toEqual([{ type: 'text', text: 'modern' }]);
    const lines = (await at.lines(1)).filter(({ target }) => target.method === 'tools/call');
    expect(lines).toMatchObject([{ outcome: 'success', metadata: { extra: { rounds: 2 } } }]);
    expect(lines[0]?.metadata.extra).not.toHaveProperty('refusal');
  });
});

describe('clients of the SDKs', () => {
  async function listening(later: ConnectLater, backend: Era) {
    const kit = await withPlugins(later, [], backend);
    const server = await loopbackServer((request, response) => kit.gateway.handle(request, response));
    return {
      url: new URL(`${server.url}/mcp`),
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await kit[Symbol.asyncDispose]();
      },
    };
  }

  for (const backend of ERAS) {
    it(`1.x: throw the error with the link, and call again after it; backend ${backend}`, async () => {
      const later = connectLater();
      await using at = await listening(later, backend);
      const client = new ClientV1({ name: 'one', version: '1' }, { capabilities: URL_MODE });
      await client.connect(new TransportV1(at.url) as Parameters<typeof client.connect>[0]);
      const thrown: unknown = await client.callTool(CALL).catch((cause: unknown) => cause);
      expect(thrown).toBeInstanceOf(UrlElicitationRequiredError);
      const [elicitation] = (thrown as UrlElicitationRequiredError).elicitations;
      expect(elicitation).toMatchObject({ mode: 'url', url: LINK, elicitationId: expect.any(String) });
      later.isConnected = true;
      expect((await client.callTool(CALL)).isError).toBeFalsy();
      await client.close();
    });

    for (const pin of ERAS) {
      it(`2.x in ${pin}: ${pin === '2025-11-25' ? 'throw the error with the link' : 'open the link and end the same call'}; backend ${backend}`, async () => {
        const later = connectLater();
        await using at = await listening(later, backend);
        const mode = pin === '2025-11-25' ? ('legacy' as const) : { pin };
        const client = new ClientV2(
          { name: 'two', version: '1' },
          { capabilities: URL_MODE, versionNegotiation: { mode } },
        );
        const asked: unknown[] = [];
        client.setRequestHandler('elicitation/create', async ({ params }) => {
          asked.push(params);
          later.isConnected = true;
          return { action: 'accept' as const };
        });
        await client.connect(new TransportV2(at.url));
        if (pin === '2025-11-25') {
          await expect(client.callTool(CALL)).rejects.toMatchObject({ code: -32042 });
          later.isConnected = true;
        }
        expect((await client.callTool(CALL)).isError).toBeFalsy();
        if (pin === '2026-07-28') expect(asked).toMatchObject([{ mode: 'url', url: LINK, message: SENTENCE }]);
        await client.close();
      });
    }
  }
});
