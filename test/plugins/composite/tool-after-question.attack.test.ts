import type { Era, JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { blocksOf, checkedPages } from '../../docs/blocks.ts';
import { answered } from '../../support/composites.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const CAN = { elicitation: {} };
const FILE = { path: '/a.txt', content: 'say "yes" {{ .params.path }}' };
const ASKING = 'write_file_after_question';
const TOOL = 'filesystem_write_file';

/** The sections of the guide in a gateway, and the arguments that reached the tool. */
async function guideGateway(): Promise<TestGateway & { readonly written: () => readonly unknown[] }> {
  const { incomingAuth, compositeTools } = sectionsOfGuide();
  const filesystem: FakeServer = fakeServer().tool('write_file', 'written');
  const kit = await testGateway({
    catalogue,
    backends: { filesystem },
    plan: {
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'authorization/cedar', with: { policies: incomingAuth.authz.policies } },
        { use: 'aggregation', with: { conflictResolution: 'prefix' } },
        { use: 'composite/engine', with: { compositeTools } },
      ],
    },
  });
  const calls = () => filesystem.received.filter(({ method }) => method === 'tools/call');
  return { ...kit, written: () => calls().map(({ params }) => params.arguments) };
}

function sectionsOfGuide(): {
  readonly incomingAuth: { readonly authz: { readonly policies: readonly string[] } };
  readonly compositeTools: readonly JsonObject[];
} {
  const page = 'docs/guides/composite-tools.md';
  const block = blocksOf(page, checkedPages().get(page) ?? '').find(({ text }) => text.includes('@id("ask-first")'));
  if (block === undefined) throw new Error(`${page} has no policy ask-first`);
  return parse(block.text) as ReturnType<typeof sectionsOfGuide>;
}

describe.each(ERAS)('a tool that runs only after a question, for a %s client', (era) => {
  const answering = (answer: JsonObject, asked: JsonObject[] = []) => ({
    era,
    capabilities: CAN,
    answer: (_method: string, params: JsonObject) => {
      asked.push(params);
      return answer;
    },
  });

  it('is not listed and refuses a direct call', async () => {
    await using kit = await guideGateway();
    const client = await kit.client({ era });
    expect(await client.toolNames()).toEqual([ASKING]);
    expect((await client.request('tools/call', { name: TOOL, arguments: FILE })).status).toBe(403);
    expect(kit.written()).toEqual([]);
  });

  it('runs once for an accepted question that shows its arguments', async () => {
    await using kit = await guideGateway();
    const asked: JsonObject[] = [];
    const client = await kit.client(answering({ action: 'accept', content: {} }, asked));
    expect(answered(await client.callTool(ASKING, FILE))).toMatchObject({
      isError: false,
      output: { text: 'written' },
    });
    expect(asked.map(({ message }) => message)).toEqual([`Write "/a.txt" with ${JSON.stringify(FILE.content)}?`]);
    expect(kit.written()).toEqual([FILE]);
  });

  it.each(['decline', 'cancel', 'yes'])('does not run after the answer %s', async (action) => {
    await using kit = await guideGateway();
    const client = await kit.client(answering({ action }));
    expect(answered(await client.callTool(ASKING, FILE)).isError).toBe(true);
    expect(kit.written()).toEqual([]);
  });

  it('does not run when the client cannot be asked', async () => {
    await using kit = await guideGateway();
    const client = await kit.client({ era });
    const { result, error } = await client.request('tools/call', { name: ASKING, arguments: FILE });
    expect(error !== undefined || result?.isError === true).toBe(true);
    expect(kit.written()).toEqual([]);
  });
});

describe('an accepted question of a stateless client', () => {
  it('holds for its arguments only, and once', async () => {
    await using kit = await guideGateway();
    const client = await kit.client({ capabilities: CAN });
    const call = (more: JsonObject, given: JsonObject = FILE) =>
      client.request('tools/call', { name: ASKING, arguments: given, ...more });
    const { result } = await call({});
    expect(result?.resultType).toBe('input_required');
    const accepted = {
      requestState: String(result?.requestState),
      inputResponses: { sure: { action: 'accept', content: {} } },
    };
    expect((await call(accepted, { ...FILE, path: '/etc/passwd' })).error?.code).toBe(-32602);
    expect(kit.written()).toEqual([]);
    const replies = await Promise.all([call(accepted), call(accepted), call(accepted)]);
    expect(replies.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect((await call(accepted)).error?.code).toBe(-32602);
    expect(kit.written()).toEqual([FILE]);
  });
});
