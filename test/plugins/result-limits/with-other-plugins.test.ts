import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { BIG, idOf, resultLimited, textsOf } from '../../support/result-limited-gateway.ts';

const server = () =>
  fakeServer()
    .tool('big', () => ({ content: [{ type: 'text', text: BIG }] }))
    .tool('free', () => ({ content: [{ type: 'text', text: BIG }] }));

describe('result-limits', () => {
  proves(
    'choice.result-limits.inner-calls',
    'gives whole results to steps and scripts, and keeps what they answer with',
    async () => {
      const compositeTools = [
        {
          name: 'both',
          description: 'Reads twice',
          parameters: { type: 'object' },
          steps: [{ id: 'one', type: 'tool', tool: 'big' }],
          output: { properties: { text: { type: 'string', value: '{{ .steps.one.output.text }}' } } },
        },
      ];
      const more = [
        { use: 'composite/engine', with: { compositeTools } },
        { use: 'code-mode/quickjs' },
        { use: 'code-mode/execute-script' },
      ];
      await using gateway = await resultLimited(undefined, { server: server(), more });
      const client = await gateway.kit.client();
      const whole = await client.callTool('execute_tool_script', {
        script: 'return (await callTool("big", {})).length',
      });
      expect(textsOf(whole)).toEqual([String(BIG.length)]);
      const script = { script: 'return await callTool("big", {})' };
      for (const [tool, given] of [
        ['both', {}],
        ['execute_tool_script', script],
      ] as const) {
        const answer = await client.callTool(tool, given);
        expect(answer.structuredContent).toBeUndefined();
        const page = await client.callTool('read_result', { id: idOf(answer), part: 'all', search: 'line 0999' });
        expect(textsOf(page)[1]).toContain('line 0999');
      }
      expect(await client.toolNames()).toContain('read_result');
    },
  );

  it('lets callers read what policies allowed them to call, and decides about the resources', async () => {
    const policies = ['permit(principal, action == Action::"call_tool", resource == Tool::"big");'];
    const more = [{ use: 'authorization/cedar', with: { policies } }];
    await using gateway = await resultLimited(undefined, { server: server(), more });
    const client = await gateway.kit.client({ headers: { 'x-user': 'ada' } });
    expect(await client.toolNames()).toEqual(['big', 'read_result']);
    const id = idOf(await client.callTool('big'));
    expect(textsOf(await client.callTool('read_result', { id, limit: 9 }))[1]).toBe('line 0000');
    const { error } = await client.request('resources/read', { uri: `toolmgr-result://${id}` });
    expect(error?.code).toBe(403);
  });

  proves('choice.result-limits.metrics', 'counts what is kept in the metrics, until it expires', async () => {
    const more = [{ use: 'telemetry', with: { enablePrometheusMetricsPath: true } }];
    await using gateway = await resultLimited(undefined, { more });
    const { kit, clock } = gateway;
    const read = async () => {
      const text = await (await kit.gateway.fetch(new Request('http://localhost/metrics'))).text();
      return [...text.matchAll(/^(toolmgr_vmcp_kept_\w+)(?:\{.*\})? (\d+)/gm)].map(([, name, count]) => [
        name,
        Number(count),
      ]);
    };
    await (await kit.client()).callTool('big');
    const bytes = expect.any(Number) as number;
    expect(await read()).toEqual([
      ['toolmgr_vmcp_kept_results', 1],
      ['toolmgr_vmcp_kept_result_bytes', bytes],
    ]);
    expect((await read())[1]?.[1]).toBeGreaterThan(BIG.length);
    clock.nowMs += 600_000;
    expect((await read()).map(([, count]) => count)).toEqual([0, 0]);
  });

  proves('choice.result-limits.call-tool', 'gives call_tool the budget of the tool that it calls', async () => {
    const more = [{ use: 'optimizer/search' }, { use: 'optimizer/tools' }];
    const config = { default: { bytes: 4_096 }, tools: [{ name: 'free' }, { name: 'find_tool' }] };
    await using gateway = await resultLimited(config, { server: server(), more });
    const client = await gateway.kit.client({ era: '2025-11-25' });
    expect(await client.toolNames()).toEqual(['call_tool', 'find_tool', 'read_result']);
    const call = (tool_name: string, parameters = {}) => client.callTool('call_tool', { tool_name, parameters });
    const id = idOf(await call('big'));
    expect(textsOf(await client.callTool('read_result', { id, limit: 9 }))[1]).toBe('line 0000');
    expect(textsOf(await call('read_result', { id, limit: 9 }))[1]).toBe('line 0000');
    expect(textsOf(await call('free'))).toEqual([BIG]);
  });

  it('is the limit of results of every kind but questions', async () => {
    const kinds = fakeServer().tool('big', () => ({
      content: [{ type: 'text', text: BIG }],
      resultType: 'another',
    }));
    await using gateway = await resultLimited(undefined, { server: kinds });
    const client = await gateway.kit.client({ capabilities: { extensions: {} } });
    const { result, text } = await client.request('tools/call', { name: 'big', arguments: {} });
    expect(text.length).toBeLessThan(4_096);
    expect(textsOf(result ?? {})[0]).toContain('is too large to be shown whole');
  });
});
