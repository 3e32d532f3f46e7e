import type { JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';

const DESTRUCTIVE = { annotations: { destructiveHint: true } };
const remove = () => fakeServer().tool('remove', 'removed', DESTRUCTIVE).tool('drop', 'dropped', DESTRUCTIVE);
const YES: JsonObject = { 'toolmgr.confirm': { action: 'accept', content: { confirm: true } } };
const capabilities = { elicitation: {} };

const gatewayTo = (far: ReturnType<typeof remove>) =>
  testGateway({ backends: { far }, catalogue, plan: { plugins: [{ use: 'confirmation' }] } });

const callsOf = (far: ReturnType<typeof remove>) => far.received.filter(({ method }) => method === 'tools/call');

describe('a caller who avoids the question', () => {
  it('gets the question again for an answer without the state of the gateway, or with an invented one', async () => {
    const far = remove();
    await using kit = await gatewayTo(far);
    const client = await kit.client({ capabilities });
    for (const more of [{}, { requestState: 'toolmgr.confirm' }, { requestState: '' }]) {
      const reply = await client.request('tools/call', { name: 'remove', arguments: {}, inputResponses: YES, ...more });
      expect(reply.result?.resultType ?? reply.error?.code).toSatisfy((it) => it === 'input_required' || it === -32602);
    }
    expect(callsOf(far)).toEqual([]);
  });

  it('cannot use the answer for other arguments or for another tool', async () => {
    const far = remove();
    await using kit = await gatewayTo(far);
    const client = await kit.client({ capabilities });
    const { result } = await client.request('tools/call', { name: 'remove', arguments: { path: '/tmp/a' } });
    const answered = { inputResponses: YES, requestState: result?.requestState ?? null };
    for (const asked of [
      { name: 'remove', arguments: { path: '/' } },
      { name: 'drop', arguments: { path: '/tmp/a' } },
    ]) {
      const reply = await client.request('tools/call', { ...asked, ...answered });
      expect(reply.error?.code).toBe(-32602);
    }
    expect(callsOf(far)).toEqual([]);
  });

  it('cannot hide an argument from the person', async () => {
    const far = remove();
    await using kit = await gatewayTo(far);
    let message = '';
    const client = await kit.client({
      capabilities,
      answer: (_, params) => {
        message = String(params.message);
        return { action: 'decline' };
      },
    });
    await client.callTool('remove', { path: '/tmp\u202e\n\u200b/a' }).catch(() => {});
    expect(message).toContain('/tmp\\u{202e}\\n\\u{200b}/a');
    far.tool('x\n\u202e', 'removed', DESTRUCTIVE);
    far.notify('notifications/tools/list_changed');
    await expect.poll(async () => client.toolNames()).toContain('x\n\u202e');
    await client.callTool('x\n\u202e').catch(() => {});
    expect(message).toContain('"x\\n\\u{202e}" of far');
    message = '';
    const long = await client.callTool('remove', { first: 'x'.repeat(5_000), path: '/' }).catch(String);
    expect(JSON.stringify(long)).toContain('its arguments are longer');
    expect(message).toBe('');
    expect(callsOf(far)).toEqual([]);
  });

  it('cannot use what a person told another client', async () => {
    const far = remove();
    await using kit = await gatewayTo(far);
    const yes = { capabilities, answer: () => ({ action: 'accept', content: { confirm: true } }) };
    await (await kit.client({ era: '2025-11-25', ...yes })).callTool('remove');
    let asked = 0;
    const other = await kit.client({
      capabilities,
      answer: () => {
        asked++;
        return { action: 'decline' };
      },
    });
    await other.callTool('remove').catch(() => {});
    expect(asked).toBe(1);
    expect(callsOf(far)).toHaveLength(1);
  });
});
