import { type FakeServer, fakeServer, testClient, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { find, names, optimized, said, sdkClient } from '../../../support/optimized-gateway.ts';
import { proves } from '../../../support/proves.ts';
import { cedar, claimsFromHeader, claimsHeader } from '../../authorization/cedar/support.ts';

const DESCRIBED = {
  send_letter: 'Sends a letter to somebody',
  read_file: 'Reads a file from the disk',
  write_file: 'Writes a file to the disk',
  draw_chart: 'Draws a chart of some numbers',
  delete_row: 'Deletes a row of a table',
};

const office = (): FakeServer => {
  const server = fakeServer();
  for (const [name, description] of Object.entries(DESCRIBED)) server.tool(name, `did ${name}`, { description });
  return server;
};

describe('the optimizer', () => {
  proves(
    ['vmcp.optimizer.exposes-two-tools', 'vmcp.surface.find-and-call-tool'],
    'lists find_tool and call_tool instead of backend tools, and accepts no other name',
    async () => {
      const far = office();
      await using kit = await optimized({}, { far });
      const client = await sdkClient(kit);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['call_tool', 'find_tool']);
      await expect(client.callTool({ name: 'read_file', arguments: {} })).rejects.toMatchObject({ code: -32602 });
      const { tools, token_metrics, ...rest } = await find(client, 'put text into a file');
      expect(tools.map(({ name }) => name)).toContain('write_file');
      expect(tools[0]).toEqual({
        name: tools[0]?.name,
        inputSchema: { type: 'object' },
        description: DESCRIBED[tools[0]?.name as keyof typeof DESCRIBED],
      });
      expect(rest).toEqual({});
      expect(token_metrics.baseline_tokens).toBeGreaterThan(token_metrics.returned_tokens);
      expect(await said(client, 'write_file', {})).toBe('did write_file');
    },
  );

  proves(
    'choice.optimizer.metrics',
    'reports the tokens of all tools, of the found ones, and the savings',
    async () => {
      const far = fakeServer();
      for (let at = 0; at < 40; at++) far.tool(`tool_${at}`, 'x', { description: `does thing ${at} for somebody` });
      await using kit = await optimized({ directPath: '/mcp/direct', maxToolsToReturn: 1 }, { far });
      const direct = await (await sdkClient(kit, { path: '/mcp/direct' })).listTools();
      const { tools, token_metrics } = await find(await sdkClient(kit), 'do thing 7');
      const bytes = (listed: readonly object[]) => listed.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
      const baseline = Math.ceil(bytes(direct.tools) / 4);
      const returned = Math.ceil(bytes(tools) / 4);
      expect(token_metrics).toEqual({
        baseline_tokens: baseline,
        returned_tokens: returned,
        savings_percent: Math.round((1 - returned / baseline) * 10_000) / 100,
      });
      expect(token_metrics.savings_percent).toBeGreaterThan(95);
    },
  );

  describe('the result of a search', () => {
    const NESTED = {
      type: 'object',
      properties: {
        to: { type: 'string', description: 'an address' },
        parts: {
          type: 'array',
          items: { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] },
        },
      },
      required: ['to'],
    };
    const described = 'Sends a letter to somebody. '.repeat(20);
    const post = () =>
      fakeServer().tool('send_letter', 'x', {
        description: described,
        inputSchema: NESTED,
        outputSchema: { type: 'object', properties: { stamp: { type: 'string' } } },
        annotations: { openWorldHint: true },
        execution: { taskSupport: 'optional' },
      } as never);
    const asked = { name: 'find_tool', arguments: { tool_description: 'send a letter' } };

    proves(
      ['choice.optimizer.lean-answer', 'choice.optimizer.said-once'],
      'has definitions without members that a call does not need, and a line of text for each',
      async () => {
        await using kit = await optimized({}, { far: post() });
        const { content, structuredContent } = await (await sdkClient(kit)).callTool(asked);
        const { tools } = structuredContent as unknown as { tools: object[] };
        expect(tools).toEqual([
          { name: 'send_letter', description: described, inputSchema: NESTED, annotations: { openWorldHint: true } },
        ]);
        expect(content).toEqual([
          {
            type: 'text',
            text: expect.stringMatching(
              /^Best first.*\n- send_letter\(\{ to: string; parts\?: \{ page: number \}\[\] \}\): Sends a letter to [^\n]{1,90}…$/,
            ),
          },
        ]);
        expect(JSON.stringify(content).length).toBeLessThan(JSON.stringify(structuredContent).length / 3);
      },
    );

    proves(
      'choice.optimizer.said-once',
      'is only text for clients of revisions without structured content',
      async () => {
        await using kit = await optimized({}, { far: post() });
        const { structuredContent } = await (await sdkClient(kit, { version: '2025-06-18' })).callTool(asked);
        expect(structuredContent).toMatchObject({ tools: [{ name: 'send_letter' }] });
        for (const version of ['2025-03-26', '2024-11-05']) {
          const old = await (await sdkClient(kit, { version })).callTool(asked);
          expect(old.structuredContent).toBeUndefined();
          expect(JSON.parse((old.content as { text: string }[])[0]?.text ?? '')).toEqual(structuredContent);
        }
      },
    );

    it('has a text when no tool matches', async () => {
      await using kit = await optimized({}, { far: post() });
      const { content } = await (await sdkClient(kit)).callTool({ ...asked, arguments: { tool_description: 'zzz' } });
      expect(content).toEqual([{ type: 'text', text: 'No tool matches.' }]);
    });
  });

  proves('choice.optimizer.call-unchanged', 'forwards arguments and results unchanged', async () => {
    const raw = '{"content":[{"type":"text","text":"x"}],"structuredContent":{"id":90071992547409931234},"x-more":1}';
    const far = fakeServer()
      .tool('big', () => ({ raw }))
      .tool('echo')
      .tool('bad', () => ({ ...text('no'), isError: true }));
    await using kit = await optimized({}, { far });
    const client = await testClient((request) => kit.gateway.fetch(request), 'http://localhost/mcp', {
      era: '2025-11-25',
    });
    const big = await client.request('tools/call', {
      name: 'call_tool',
      arguments: { tool_name: 'big', parameters: {} },
    });
    expect(big.text).toContain(raw.slice(1, -1));
    const parameters = { a: [1, { b: null }], tool_name: 'mine' };
    await client.callTool('call_tool', { tool_name: 'echo', parameters });
    expect(far.received.at(-1)?.params).toMatchObject({ name: 'echo', arguments: parameters });
    expect(await client.callTool('call_tool', { tool_name: 'bad', parameters: {} })).toMatchObject({ isError: true });
  });

  proves('choice.optimizer.slips', 'accepts common mistakes of models', async () => {
    const far = fakeServer().tool('echo');
    await using kit = await optimized({}, { far });
    const client = await testClient((request) => kit.gateway.fetch(request), 'http://localhost/mcp', {
      era: '2025-11-25',
    });
    const given = async (slip: object) => {
      const before = far.received.length;
      await client.callTool('call_tool', slip as never);
      return far.received.slice(before).find(({ method }) => method === 'tools/call')?.params.arguments;
    };
    expect(await given({ parameters: { tool_name: 'echo', a: 1 } })).toEqual({ a: 1 });
    expect(await given({ parameters: { tool_name: 'echo', parameters: { a: 1 } } })).toEqual({ a: 1 });
    expect(await given({ tool_name: 'echo', parameters: '{"a":1}' })).toEqual({ a: 1 });
    expect(await given({ tool_name: 'echo' })).toEqual({});
    expect(await given({ tool_name: 'echo', parameters: null })).toEqual({});
  });

  proves('choice.optimizer.errors', 'returns failures as tool errors with a text that helps a model', async () => {
    await using kit = await optimized({}, { far: office() });
    const client = await sdkClient(kit);
    const call = async (name: string, given: object) => {
      const answer = await client.callTool({ name, arguments: given as Record<string, unknown> });
      return { isError: answer.isError, text: (answer.content as { text: string }[])[0]?.text };
    };
    expect(await call('call_tool', { tool_name: 'read_fil', parameters: {} })).toEqual({
      isError: true,
      text: 'tool not found: read_fil (did you mean "read_file"?)',
    });
    expect(await call('call_tool', { tool_name: 'zzz', parameters: {} })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/tool not found: zzz.*find_tool/),
    });
    expect(await call('call_tool', {})).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^tool_name must/),
    });
    expect(await call('call_tool', { tool_name: 'read_file', parameters: [1] })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^parameters must be an object/),
    });
    for (const given of [{}, { tool_description: ' ' }, { tool_description: 7 }, { tool_keywords: ['file'] }]) {
      expect(await call('find_tool', given)).toMatchObject({
        isError: true,
        text: expect.stringMatching(/^tool_description/),
      });
    }
    expect(await call('find_tool', { tool_description: 'x', tool_keywords: [1] })).toMatchObject({ isError: true });
  });

  proves('vmcp.optimizer.max-tools-to-return', 'returns at most 8 tools, or the configured number', async () => {
    const far = fakeServer();
    for (let at = 0; at < 60; at++) far.tool(`file_${at}`, 'x', { description: 'reads a file' });
    for (const [settings, most] of [
      [{}, 8],
      [{ maxToolsToReturn: 1 }, 1],
      [{ maxToolsToReturn: 50 }, 50],
    ] as const) {
      await using kit = await optimized(settings, { far });
      expect(await names(await sdkClient(kit), 'read a file')).toHaveLength(most);
    }
  });

  proves(
    ['vmcp.optimizer.pins-revision', 'vmcp.optimizer.negotiates-down'],
    'answers clients of revision 2026-07-28 like a server of 2025-11-25',
    async () => {
      await using kit = await optimized({ directPath: '/mcp/direct' }, { far: office() });
      const modern = await kit.client({ era: '2026-07-28' });
      for (const [method, params] of [
        ['tools/list', {}],
        ['tools/call', { name: 'find_tool', arguments: {} }],
      ] as const) {
        expect(await modern.request(method, params)).toMatchObject({
          status: 400,
          error: { code: -32022, data: { supported: ['2025-11-25'] } },
        });
      }
      expect((await modern.request('server/discover')).result).toBeUndefined();
      for (const path of ['/mcp', '/mcp/direct']) {
        const client = await sdkClient(kit, { path }); // it supports both revisions and negotiates
        expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
      }
    },
  );

  proves('choice.optimizer.direct-path', 'lists all tools only at the direct path', async () => {
    const far = office();
    await using kit = await optimized({ directPath: '/mcp/direct' }, { far });
    const client = await sdkClient(kit, { path: '/mcp/direct' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(Object.keys(DESCRIBED).sort());
    expect(await client.callTool({ name: 'read_file', arguments: {} })).toMatchObject(text('did read_file'));
    await using without = await optimized({}, { far: office() });
    await expect(sdkClient(without, { path: '/mcp/direct' })).rejects.toThrow();
  });

  proves(
    'choice.optimizer.always-listed',
    'lists chosen tools too, which are found and called like others',
    async () => {
      const settings = {
        alwaysListed: ['read_file', 'red_file'],
        findToolDescription: 'Searches the tools of the office.',
      };
      await using kit = await optimized(settings, { far: office() });
      const client = await sdkClient(kit);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['call_tool', 'find_tool', 'read_file']);
      expect(tools.find(({ name }) => name === 'find_tool')?.description).toBe('Searches the tools of the office.');
      expect(await client.callTool({ name: 'read_file', arguments: {} })).toMatchObject(text('did read_file'));
      const through = { name: 'call_tool', arguments: { tool_name: 'read_file', parameters: {} } };
      expect(await client.callTool(through)).toMatchObject(text('did read_file'));
      expect(await names(client, 'read a file')).toContain('read_file');
      await expect(client.callTool({ name: 'translate', arguments: {} })).rejects.toThrow();
      expect(kit.logged.join()).toMatch(
        /alwaysListed: no tool is named \\"red_file\\" now, did you mean \\"read_file\\"\?/,
      );
    },
  );

  it('finds new tools and no removed ones after backend changes', async () => {
    const far = office();
    await using kit = await optimized({}, { far });
    const client = await sdkClient(kit);
    expect(await names(client, 'translate a poem')).not.toContain('translate');
    kit.setBackends({ far, poetry: fakeServer().tool('translate', 'x', { description: 'Translates poems' }) });
    await expect.poll(() => names(client, 'translate a poem')).toContain('translate');
    kit.setBackends({ far });
    await expect.poll(() => names(client, 'translate a poem')).not.toContain('translate');
  });

  it('drops a backend tool with one of its names, with a warning', async () => {
    await using kit = await optimized({}, { far: office().tool('find_tool', 'not me') });
    const client = await sdkClient(kit);
    expect(await names(client, 'read a file')).toContain('read_file');
    expect(kit.logged.join()).toMatch(/find_tool.* of far is dropped/);
  });
});

describe('the optimizer with policies', () => {
  const policies = [
    'permit(principal, action == Action::"call_tool", resource == Tool::"read_file");',
    'permit(principal == Client::"ada", action == Action::"call_tool", resource);',
  ];
  const guarded = (far: FakeServer) =>
    optimized(
      { directPath: '/mcp/direct' },
      { far },
      {
        plugins: [claimsFromHeader, cedar],
        uses: [{ use: claimsFromHeader.address }, { use: cedar.address, with: { policies } }],
      },
    );

  proves(
    'choice.optimizer.with-policy',
    'finds and calls only permitted tools per caller, with one index',
    async () => {
      const far = office();
      await using kit = await guarded(far);
      const ada = await sdkClient(kit, { headers: claimsHeader({ sub: 'ada' }) });
      const eve = await sdkClient(kit, { headers: claimsHeader({ sub: 'eve' }) });
      expect((await eve.listTools()).tools.map(({ name }) => name)).toEqual(['call_tool', 'find_tool']);
      const wish = 'read a file, write a file, draw a chart, send a letter, delete a row';
      expect((await names(ada, wish)).sort()).toEqual(Object.keys(DESCRIBED).sort());
      expect(await names(eve, wish)).toEqual(['read_file']);
      const metrics = async (client: typeof ada) => (await find(client, wish)).token_metrics.baseline_tokens;
      expect(await metrics(eve)).toBeLessThan(await metrics(ada));
      expect(await said(ada, 'draw_chart', {})).toBe('did draw_chart');
      expect(await said(eve, 'read_file', {})).toBe('did read_file');
      const calls = () => far.received.filter(({ method }) => method === 'tools/call').length;
      const before = calls();
      // forbidden and unknown tools have the same error
      const forbidden = await said(eve, 'draw_chart', {});
      expect(forbidden).toBe((await said(eve, 'no_such_tool', {})).replace('no_such_tool', 'draw_chart'));
      expect(calls()).toBe(before);
    },
  );
});

describe('the optimizer with limits', () => {
  proves(
    'choice.optimizer.limits',
    'counts a search as a call, and call_tool together with its call as one',
    async () => {
      const far = office();
      await using kit = await optimized(
        {},
        { far },
        {
          uses: [
            { use: 'stores/memory' },
            {
              use: 'rate-limit',
              with: {
                shared: { maxTokens: 5, refillPeriod: '1h' },
                tools: [{ name: 'write_file', shared: { maxTokens: 1, refillPeriod: '1h' } }],
              },
            },
          ],
        },
      );
      const client = await sdkClient(kit);
      expect(await said(client, 'read_file', {})).toBe('did read_file');
      expect(await said(client, 'write_file', {})).toBe('did write_file');
      expect(await said(client, 'write_file', {})).toMatch(/^rate limit exceeded; try again in \d+ s$/);
      expect(await names(client, 'read a file')).toContain('read_file');
      expect(await said(client, 'no_such_tool', {})).toMatch(/no_such_tool/);
      // five tokens are spent: two calls, a refused call, a search, and an unknown tool
      expect(
        JSON.stringify(await client.callTool({ name: 'find_tool', arguments: { tool_description: 'read' } })),
      ).toMatch(/Rate limit exceeded/);
      expect(await said(client, 'read_file', {})).toMatch(/^Rate limit exceeded/);
    },
  );
});

describe('the optimizer with code mode', () => {
  proves(
    'choice.optimizer.with-scripts',
    'finds the script tool, and scripts call all tools of their caller except the virtual ones',
    async () => {
      const far = office();
      await using kit = await optimized(
        { directPath: '/mcp/direct' },
        { far },
        {
          uses: [{ use: 'code-mode/quickjs' }, { use: 'code-mode/execute-script' }],
        },
      );
      const client = await sdkClient(kit);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['call_tool', 'find_tool']);
      expect(await names(client, 'run a script that calls several tools')).toContain('execute_tool_script');
      const run = (script: string) => said(client, 'execute_tool_script', { script });
      expect(await run("return await callTool('read_file', {})")).toContain('did read_file');
      for (const name of ['find_tool', 'call_tool', 'execute_tool_script']) {
        expect(await run(`return await callTool('${name}', { tool_description: 'x' })`), name).toMatch(
          /script execution failed/,
        );
      }
    },
  );
});
