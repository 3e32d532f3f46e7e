import { type CallRecord, definePlugin, type JsonObject, tapDecision } from '@toolmgr/core';
import { fakeServer, type TestClient, type TestGateway, testGateway, text } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';
import { runScript, scriptedGateway } from '../../support/scripted-gateway.ts';
import { until } from '../../support/until.ts';

const LONG = 180_000;

/** Records settled calls, and denies the tool `secret` for all callers. */
function observer(settled: CallRecord[]) {
  return definePlugin({
    address: 'testing/observer',
    config: z.strictObject({}),
    apply({ hooks }) {
      tapDecision(hooks, 'testing/observer', ({ original }) =>
        original === 'secret' ? { refused: true, status: 403, reason: 'not allowed' } : undefined,
      );
      hooks.limit.tap('testing/observer', ({ name }) =>
        name === 'far_rare' ? { refused: true, status: 429, reason: 'too many calls', retryAfterMs: 1_000 } : undefined,
      );
      hooks.callSettled.tap('testing/observer', (record) => void settled.push(record));
    },
  });
}

function farServer(state: { inFlight: number; most: number; aborted: number; hanging: number }) {
  return fakeServer()
    .tool('echo')
    .tool('secret', 'never')
    .tool('rare')
    .tool('add', ({ arguments: { a, b } }) => ({
      content: [{ type: 'text', text: 'not this' }],
      structuredContent: { sum: Number(a) + Number(b) },
    }))
    .tool('wrapped', () => ({ content: [], structuredContent: { result: [1, 2, 3] } }))
    .tool('json', '{"a":[1,2]}')
    .tool('number', '42')
    .tool('long', '12345678901234567890')
    .tool('prose', 'so it goes')
    .tool('nothing', () => ({ content: [] }))
    .tool('fails', () => text('no such file', { isError: true }))
    .tool('broken', () => {
      throw { code: -32602, message: 'a is required' };
    })
    .tool('hangs', ({ signal }) => {
      state.hanging++;
      return new Promise((_, reject) => {
        const end = () => {
          state.aborted++;
          reject(new Error('aborted'));
        };
        if (signal.aborted) end();
        else signal.addEventListener('abort', end);
      });
    })
    .tool('slow', async ({ arguments: { n } }) => {
      state.inFlight++;
      state.most = Math.max(state.most, state.inFlight);
      await new Promise((resolve) => setTimeout(resolve, 20));
      state.inFlight--;
      return text(String(n));
    });
}

describe('execute_tool_script', () => {
  const state = { inFlight: 0, most: 0, aborted: 0, hanging: 0 };
  const settled: CallRecord[] = [];
  let kit: TestGateway;
  let client: TestClient;
  beforeAll(async () => {
    const backends = { far: farServer(state), near: fakeServer().tool('echo', 'near').tool('delete', 'gone') };
    kit = await scriptedGateway(
      backends,
      { toolCallTimeout: '1500ms', parallelMaxConcurrency: 3 },
      { plugins: [observer(settled)] },
    );
    client = await kit.client();
  }, LONG);
  afterAll(() => kit[Symbol.asyncDispose]());

  proves('vmcp.surface.execute-tool-script', 'is listed with its input schema', async () => {
    const tool = await listed(client);
    expect(tool).toMatchObject({
      name: 'execute_tool_script',
      inputSchema: {
        type: 'object',
        required: ['script'],
        properties: { script: { type: 'string' }, data: { type: 'object' } },
      },
    });
    expect(await client.toolNames()).toContain('far_echo');
  });

  proves('choice.code-mode.javascript', 'runs an async JavaScript body and returns its value', async () => {
    const { value, structured } = await runScript(
      client,
      'const { sum } = await far.add({ a: data.a, b: 2 }); return { sum, doubled: [sum].map((n) => n * 2) };',
      { a: 40 },
    );
    expect(value).toEqual({ sum: 42, doubled: [84] });
    expect(structured).toEqual(value);
    expect((await runScript(client, 'const a = 1;')).value).toBe(null);
    expect((await runScript(client, 'return [1]')).structured).toBe(undefined);
  });

  proves('choice.code-mode.places', 'offers each tool by group, by its full name and by callTool', async () => {
    const script = `return [
        await far.echo({ n: 1 }), await far_echo({ n: 2 }), await callTool('far_echo', { n: 3 }),
        await callTool('near.echo'), await near.delete(), typeof execute_tool_script];`;
    expect((await runScript(client, script)).value).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
      'near',
      'gone',
      'undefined',
    ]);
  });

  proves('choice.code-mode.values', 'returns results as plain values', async () => {
    const script = `return [await far.wrapped(), await far.json(), await far.number(), await far.long(),
      await far.prose(), await far.nothing()];`;
    const { value } = await runScript(client, script);
    expect(value).toEqual([[1, 2, 3], { a: [1, 2] }, 42, '12345678901234567890', 'so it goes', null]);
  });

  proves('choice.code-mode.failures', "throws tool failures in the script, also a rate limit's message", async () => {
    const caught = (call: string) =>
      `try { await ${call}; return 'no error' } catch (e) { return [e.name, e.message] }`;
    expect((await runScript(client, caught('far.fails()'))).value).toEqual(['ToolError', 'no such file']);
    expect((await runScript(client, caught('far.broken()'))).value).toEqual(['ToolError', 'a is required']);
    expect((await runScript(client, caught('far.rare()'))).value).toEqual(['ToolError', 'too many calls']);
    expect((await runScript(client, caught('callTool("far_ecko")'))).value).toEqual([
      'ToolError',
      'unknown tool "far_ecko", did you mean "far_echo"?',
    ]);
    expect((await runScript(client, caught('far.echo("a")'))).value).toEqual([
      'TypeError',
      'tool "far_echo" takes one object of arguments, got string',
    ]);
    expect(await runScript(client, 'console.log("before"); await far.fails();')).toMatchObject({
      failure: 'script execution failed: ToolError: no such file (line 1)',
      logs: 'Script logs:\nbefore',
    });
  });

  proves('choice.code-mode.failure-text', 'names the line of an error', async () => {
    const { failure } = await runScript(client, 'const a = 1;\nconst b = a.c.d;\nreturn b;');
    expect(failure).toMatch(/^script execution failed: TypeError: .* \(line 2\)$/);
    expect((await runScript(client, 'return 1;\nconst = 2;')).failure).toMatch(
      /^script execution failed: SyntaxError: .* \(line 2\)$/,
    );
  });

  proves('choice.code-mode.logs', 'returns logs with the value and with a failure', async () => {
    const { value, logs } = await runScript(
      client,
      'console.log("a", { b: 1 }, [2]); console.error(undefined); return 1',
    );
    expect([value, logs]).toEqual([1, 'Script logs:\na {"b":1} [2]\nundefined']);
    const failed = await runScript(client, 'console.log("before"); throw new Error("no")');
    expect([failed.failure, failed.logs]).toEqual([expect.stringContaining('no'), 'Script logs:\nbefore']);
  });

  proves(
    ['vmcp.code-mode.tool-call-timeout-raises'],
    'cancels a call after toolCallTimeout and throws a timeout error in the script',
    async () => {
      const before = state.aborted;
      const script = `try { await far.hangs(); } catch (e) { return [e instanceof Error, e.name, e.message, await far.echo({ n: 1 })]; }`;
      expect((await runScript(client, script)).value).toEqual([
        true,
        'TimeoutError',
        'tool "far_hangs" did not answer within 1500 ms',
        { n: 1 },
      ]);
      await until(() => state.aborted > before);
    },
  );

  proves(
    'vmcp.code-mode.parallel-max-concurrency-caps',
    'has at most parallelMaxConcurrency calls in flight, also without parallel(), in order',
    async () => {
      state.most = 0;
      const calls = '[0,1,2,3,4,5,6,7,8].map((n) => () => far.slow({ n }))';
      expect((await runScript(client, `return parallel(${calls})`)).value).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
      expect(state.most).toBe(3);
      state.most = 0;
      expect((await runScript(client, `return Promise.all(${calls}.map((f) => f()))`)).value).toHaveLength(9);
      expect(state.most).toBe(3);
    },
  );

  proves('choice.code-mode.parallel-fails', 'waits for the other tasks before parallel() fails', async () => {
    const script = `let ended = 0;
      try { await parallel([() => far.fails(), async () => { await far.slow({ n: 1 }); ended++; }, 7]); }
      catch (e) { return [e.message, ended]; }`;
    expect((await runScript(client, script)).value).toEqual(['no such file', 1]);
  });

  proves(
    ['vmcp.code-mode.inner-calls-authorised', 'choice.code-mode.inner-names'],
    'authorizes, limits and records each inner call under its own name, as a child of the script',
    async () => {
      settled.length = 0;
      await runScript(client, 'await far.echo(); try { await far.rare(); } catch {} return 1');
      await until(() => settled.length === 3);
      expect(settled.map(({ call, outcome }) => [call.name, call.parent?.name, outcome])).toEqual([
        ['far_echo', 'execute_tool_script', 'ok'],
        ['far_rare', 'execute_tool_script', 'refused'],
        ['execute_tool_script', undefined, 'ok'],
      ]);
      expect(new Set(settled.map(({ call }) => call.id)).size).toBe(1);
    },
  );

  proves('choice.code-mode.only-permitted', 'cannot find tools that its caller may not use', async () => {
    const description = String((await listed(client)).description);
    expect(description).toContain('echo(args');
    expect(description).not.toContain('secret');
    const script = `const tried = ['secret' in far, typeof far_secret];
      for (const name of ['far_secret', 'far.secret', 'secret']) {
        try { tried.push(await callTool(name)); } catch (e) { tried.push(e.message); }
      }
      try { tried.push(await far.secret()); } catch (e) { tried.push(e.message); }
      return tried;`;
    expect((await runScript(client, script)).value).toEqual([
      false,
      'undefined',
      'unknown tool "far_secret"',
      'unknown tool "secret" of backend "far"; it has add, broken, echo, fails, hangs and 8 others',
      'unknown tool "secret"',
      'unknown tool "secret" of backend "far"; it has add, broken, echo, fails, hangs and 8 others',
    ]);
    // a similar name does not suggest it either
    for (const near of ['far.secrte()', 'callTool("far_secrt")', 'callTool("far.secre")', 'far_secre()', 'secre()']) {
      expect((await runScript(client, `await ${near}`)).failure).not.toMatch(/secret\b/);
    }
  });

  proves('choice.code-mode.unknown-names', 'suggests tools for a wrong name', async () => {
    for (const [script, said] of [
      ['await far.ecco({})', 'ToolError: unknown tool "ecco" of backend "far", did you mean far.echo? (line 1)'],
      ['await far.delete({})', 'ToolError: unknown tool "delete" of backend "far", did you mean near.delete? (line 1)'],
      ['await near.prose({})', 'ToolError: unknown tool "prose" of backend "near", did you mean far.prose? (line 1)'],
      ['await near.q({})', 'ToolError: unknown tool "q" of backend "near"; it has delete, echo (line 1)'],
      ['\nawait callTool("far_eco")', 'ToolError: unknown tool "far_eco", did you mean "far_echo"? (line 2)'],
      ['await callTool("prose")', 'ToolError: unknown tool "prose", did you mean far.prose? (line 1)'],
      ['await callTool("farr.prose")', 'ToolError: unknown tool "farr.prose", did you mean far.prose? (line 1)'],
      ['await faar.echo({})', "ReferenceError: 'faar' is not defined (line 1), did you mean far?"],
      ['await far_ecco({})', "ReferenceError: 'far_ecco' is not defined (line 1), did you mean far_echo?"],
      ['await paralell([])', "ReferenceError: 'paralell' is not defined (line 1), did you mean parallel?"],
      ['await quite({})', "ReferenceError: 'quite' is not defined (line 1)"],
    ] as const) {
      expect((await runScript(client, script)).failure).toBe(`script execution failed: ${said}`);
    }
    const caught = 'try { await far.ecco() } catch (e) { return [e.name, e.message] }';
    expect((await runScript(client, caught)).value).toEqual([
      'ToolError',
      'unknown tool "ecco" of backend "far", did you mean far.echo?',
    ]);
  });

  it('treats a group as a normal object: known and unknown members, await, JSON, assignment', async () => {
    const script = `far.own = 1;
      return {
        keys: Object.keys(near), has: ['echo' in near, 'ecco' in near, Object.hasOwn(near, 'ecco')],
        seen: [...function* () { for (const key in near) yield key; }()],
        awaited: (await near) === near, json: JSON.stringify(near), text: String(near), own: far.own,
        absent: [near.then, near.toJSON, near[Symbol.iterator], near[Symbol.toPrimitive], near[Symbol.asyncIterator]].map((x) => typeof x),
        plain: [near instanceof Object, near.constructor === Object, near.hasOwnProperty('echo')],
      };`;
    expect((await runScript(client, script)).value).toEqual({
      keys: ['delete', 'echo'],
      has: [true, false, false],
      seen: ['delete', 'echo'],
      awaited: true,
      json: '{}',
      text: '[object Object]',
      own: 1,
      absent: ['undefined', 'undefined', 'undefined', 'undefined', 'undefined'],
      plain: [true, true, true],
    });
  });

  it('searches for similar names only a few times per script', async () => {
    const script = `const said = [];
      for (let n = 0; n < 12; n++) await far.ecco().catch((e) => said.push(e.message.endsWith('far.echo?')));
      return said.filter(Boolean).length;`;
    expect((await runScript(client, script)).value).toBe(10);
  });

  proves('choice.code-mode.arguments', 'refuses invalid arguments', async () => {
    for (const [given, problem] of [
      [{}, /needs a non-empty string 'script'/],
      [{ script: ' ' }, /needs a non-empty string 'script'/],
      [{ script: 1 }, /needs a non-empty string 'script'/],
      [{ script: 'return 1', data: [] }, /'data' must be an object/],
      [{ script: 'return 1', dta: {} }, /got 'dta'/],
      [{ script: `/*${'x'.repeat(1_048_576)}*/` }, /'script' is larger than 1048576 bytes/],
    ] as const) {
      const result = await client.callTool('execute_tool_script', given as JsonObject);
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toMatch(problem);
    }
  });

  proves('choice.code-mode.cancelled', 'stops, with its calls, when the client disconnects', async () => {
    const before = state.aborted;
    const stop = new AbortController();
    settled.length = 0;
    state.hanging = 0;
    const params = { name: 'execute_tool_script', arguments: { script: 'await far.hangs();' } };
    const asked = client.request('tools/call', params, stop.signal).catch(() => undefined);
    await until(() => state.hanging > 0);
    stop.abort();
    await asked;
    await until(() => state.aborted > before);
    await until(() => settled.some(({ call }) => call.name === 'execute_tool_script'));
    expect(settled.find(({ call }) => call.name === 'execute_tool_script')?.outcome).toBe('cancelled');
  });

  it('works for clients of 2025-11-25', async () => {
    const legacy = await kit.client({ era: '2025-11-25' });
    expect((await runScript(legacy, 'return far.echo({ n: 5 })')).value).toEqual({ n: 5 });
  });
});

describe('execute_tool_script in the list', () => {
  proves(
    ['vmcp.code-mode.enabled', 'vmcp.code-mode.disabled-not-advertised'],
    'is not listed without the plugin',
    async () => {
      await using kit = await testGateway({ backends: { far: fakeServer().tool('echo') }, catalogue });
      const client = await kit.client();
      expect(await client.toolNames()).toEqual(['echo']);
      await expect(client.callTool('execute_tool_script', { script: 'return 1' })).rejects.toThrow(/unknown tool/);
    },
  );

  proves(
    'choice.code-mode.reserved-name',
    'wins over a backend tool of the same name, which is dropped with a warning',
    async () => {
      const far = fakeServer().tool('execute_tool_script', 'mine').tool('delete').tool('JSON').tool('data');
      await using kit = await scriptedGateway(
        { far },
        {},
        { aggregation: { conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: ['far'] } } },
      );
      const client = await kit.client();
      expect(
        (await runScript(client, 'return [typeof JSON.parse, data, await far.JSON({ a: 1 }), await callTool("data")]'))
          .value,
      ).toEqual(['function', {}, { a: 1 }, {}]);
      expect(kit.gateway.catalog().warnings.join()).toMatch(/"execute_tool_script" of far is dropped/);
    },
  );

  it('follows list changes: a new tool is declared and callable', async () => {
    const far = fakeServer().tool('echo');
    await using kit = await scriptedGateway({ far });
    const client = await kit.client();
    far.tool('fresh', 'new');
    far.notify('notifications/tools/list_changed');
    await until(async () => (await client.toolNames()).includes('far_fresh'));
    expect(String((await listed(client)).description)).toContain('fresh(args');
    expect((await runScript(client, 'return far.fresh()')).value).toBe('new');
  });

  it('needs a registered sandbox at the start', async () => {
    const plan = { plugins: [{ use: 'code-mode/execute-script', with: { sandbox: 'none' } }] };
    await expect(testGateway({ catalogue, plan })).rejects.toThrow(/none/);
  });
});

async function listed(client: TestClient): Promise<JsonObject> {
  const { result } = await client.request('tools/list');
  const tools = (result?.tools ?? []) as readonly JsonObject[];
  return tools.find(({ name }) => name === 'execute_tool_script') ?? {};
}
