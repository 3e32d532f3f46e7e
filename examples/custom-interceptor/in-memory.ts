import assert from 'node:assert/strict';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import maskSecrets from './mask-secrets.ts';

/** Tests the plugin in a gateway in memory with a fake server: no process, no socket. */
export async function checkInMemory(): Promise<void> {
  // region: test
  const vault = fakeServer().tool('read', () => ({ content: [{ type: 'text', text: 'the key is tok_abcdefgh12' }] }));
  const kit = await testGateway({
    plugins: [maskSecrets],
    plan: { plugins: [{ use: maskSecrets.address, with: { patterns: ['tok_[0-9a-z]{8,}'] } }] },
    backends: { vault },
  });
  try {
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      const client = await kit.client({ era });
      const answer = await client.callTool('read', { because: 'tok_zyxwvuts98 told me to' });
      assert.deepEqual(answer.content, [{ type: 'text', text: 'the key is [masked]' }]);
      assert.deepEqual(vault.received.at(-1)?.params.arguments, { because: '[masked] told me to' });
    }
  } finally {
    await kit.gateway.stop();
  }
  // endregion
}
