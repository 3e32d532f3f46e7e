// A plugin that adds a tool with state, and a page.
import assert from 'node:assert/strict';
import { testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import notes from './notes.ts';

await using kit = await testGateway({
  catalogue,
  plugins: [notes],
  plan: { plugins: [{ use: notes.address }, { use: 'stores/memory' }] },
});
const client = await kit.client();
assert.deepEqual(await client.toolNames(), ['note']);
const texts: unknown[] = [];
for (const text of ['buy tea', 'buy milk']) texts.push((await client.callTool('note', { text })).content);
assert.deepEqual(texts, [[{ type: 'text', text: 'there was no note' }], [{ type: 'text', text: 'buy tea' }]]);
assert.equal((await client.callTool('note', { text: 7 })).isError, true);

const page = await kit.gateway.fetch(new Request('http://localhost/notes'));
assert.equal(await page.text(), '3 calls\n');
console.log('custom-tool: a tool kept two notes, and its page counted the calls');
