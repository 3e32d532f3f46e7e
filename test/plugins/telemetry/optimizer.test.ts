import { fakeServer, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { find, optimized, said, sdkClient } from '../../support/optimized-gateway.ts';
import { prometheusSamples } from '../../support/prometheus-text.ts';
import { proves } from '../../support/proves.ts';

describe('metrics of the optimizer', () => {
  proves('choice.telemetry.optimizer', 'count searches with results and savings, and calls by outcome', async () => {
    const far = fakeServer()
      .tool('read_file', 'read', { description: 'Reads a file from the disk' })
      .tool('send_letter', 'sent', { description: 'Sends a letter to somebody' })
      .tool('fails', () => text('no', { isError: true }), { description: 'Never works' });
    const uses = [{ use: 'telemetry', with: { enablePrometheusMetricsPath: true } }];
    await using kit = await optimized({ maxToolsToReturn: 1 }, { far }, { uses });
    const client = await sdkClient(kit);
    const { token_metrics } = await find(client, 'read a file');
    await expect(find(client, ' ')).rejects.toThrow('tool_description');
    for (const name of ['read_file', 'send_letter', 'fails', 'read_fil', 'find_tool']) await said(client, name, {});
    const page = await kit.gateway.fetch(new Request('http://localhost/metrics'));
    const samples = prometheusSamples(await page.text()).filter(({ name }) => name.includes('optimizer'));
    const value = (name: string, le?: string) =>
      samples.find((each) => each.name === `toolmgr_vmcp_optimizer_${name}` && each.labels.le === le)?.value;
    expect(value('find_tool_requests_total')).toBe(2);
    expect(value('find_tool_errors_total')).toBe(1);
    expect(value('find_tool_duration_seconds_count')).toBe(2);
    expect([value('find_tool_results_count'), value('find_tool_results_sum')]).toEqual([1, 1]);
    expect([value('find_tool_results_bucket', '0'), value('find_tool_results_bucket', '1')]).toEqual([0, 1]);
    expect(value('token_savings_percent_count')).toBe(1);
    expect(value('token_savings_percent_sum')).toBe(token_metrics.savings_percent);
    expect(value('call_tool_requests_total')).toBe(5);
    expect(value('call_tool_errors_total')).toBe(2); // a failed tool, and a name that call_tool refuses
    expect(value('call_tool_not_found_total')).toBe(1);
    expect(value('call_tool_duration_seconds_count')).toBe(5);
    expect(JSON.stringify(samples)).not.toMatch(/read_fil|send_letter/); // no names from callers
  });
});
