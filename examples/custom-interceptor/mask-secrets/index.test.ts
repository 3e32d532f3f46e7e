import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import maskSecrets from './index.ts';

test('masks secrets in calls and in their results, for clients of both protocol revisions', async (context) => {
  const vault = fakeServer().tool('read', () => ({ content: [{ type: 'text', text: 'the key is tok_abcdefgh12' }] }));
  const kit = await testGateway({
    plugins: [maskSecrets],
    plan: { plugins: [{ use: maskSecrets.address, with: { patterns: ['tok_[0-9a-z]{8,}'] } }] },
    backends: { vault },
  });
  context.after(() => kit.gateway.stop());
  for (const era of ['2025-11-25', '2026-07-28'] as const) {
    const client = await kit.client({ era });
    const answer = await client.callTool('read', { because: 'tok_zyxwvuts98 told me to' });
    assert.deepEqual(answer.content, [{ type: 'text', text: 'the key is [masked]' }]);
    assert.deepEqual(vault.received.at(-1)?.params.arguments, { because: '[masked] told me to' });
  }
});
