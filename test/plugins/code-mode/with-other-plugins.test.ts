import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@toolmgr/core';
import { fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { runScript } from '../../support/scripted-gateway.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const CODE_MODE = [
  { use: 'code-mode/quickjs' },
  { use: 'code-mode/execute-script', with: { scriptTimeout: '30s' } },
] as const;

describe('scripts beside other plugins', () => {
  proves(
    ['vmcp.code-mode.inner-calls-authorised', 'choice.code-mode.only-permitted'],
    'need no policy of their own; policies apply to the tools they call, also by arguments',
    async () => {
      const policies = [
        'permit(principal, action == Action::"call_tool", resource == Tool::"read");',
        'permit(principal, action == Action::"call_tool", resource == Tool::"write") when { context has arg_where && context.arg_where == "here" };',
      ];
      await using kit = await testGateway({
        backends: { far: fakeServer().tool('read', 'words').tool('write', 'done').tool('drop', 'gone') },
        catalogue,
        plan: { plugins: [{ use: 'authorization/cedar', with: { policies } }, ...CODE_MODE] },
      });
      const client = await kit.client();
      expect(await client.toolNames()).toEqual(['execute_tool_script', 'read', 'write']);
      const script = `const tried = async (call) => { try { return await call() } catch (e) { return e.name } };
        return [await far.read(), await tried(() => far.write({ where: 'here' })), await tried(() => far.write({ where: 'there' })),
          'drop' in far, await tried(() => far.drop()), await tried(() => callTool('drop'))];`;
      expect((await runScript(client, script)).value).toEqual([
        'words',
        'done',
        'ToolError',
        false,
        'ToolError',
        'ToolError',
      ]);
    },
  );

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'let a tool elicit input from the user of a %s client during the script',
    async (era) => {
      const far = fakeServer(['2025-11-25']).tool('ask', async ({ ask }) => {
        const { content } = await ask('elicitation/create', {
          message: 'which?',
          requestedSchema: { type: 'object', properties: { word: { type: 'string' } } },
        });
        return text(`got ${String((content as JsonObject).word)}`);
      });
      await using kit = await testGateway({ backends: { far }, catalogue, plan: { plugins: [...CODE_MODE] } });
      const client = await kit.client({
        era,
        capabilities: { elicitation: {} },
        answer: () => ({ action: 'accept', content: { word: 'this' } }),
      });
      expect((await runScript(client, 'return [await far.ask(), await far.ask()]')).value).toEqual([
        'got this',
        'got this',
      ]);
    },
  );

  it('forward the elicitation of a 2026-07-28 backend to the user', async () => {
    const question = {
      method: 'elicitation/create',
      params: { message: 'which?', requestedSchema: { type: 'object', properties: {} } },
    };
    const far = fakeServer(['2026-07-28']).tool('ask', ({ params }) => {
      const { inputResponses } = params as { inputResponses?: { a?: { action?: string } } };
      if (inputResponses === undefined) {
        return { resultType: 'input_required', inputRequests: { a: question }, requestState: 'x' };
      }
      return { content: [{ type: 'text', text: `the user said ${inputResponses.a?.action}` }] };
    });
    await using kit = await testGateway({ backends: { far }, catalogue, plan: { plugins: [...CODE_MODE] } });
    const client = await kit.client({ capabilities: { elicitation: {} }, answer: () => ({ action: 'decline' }) });
    expect((await runScript(client, 'return await far.ask()')).value).toBe('the user said decline');
  });

  it('write an audit event for each call, without the text of the script', async () => {
    const folder = temporaryFolder('scripts');
    const logFile = join(folder, 'audit.log');
    await using kit = await testGateway({
      backends: { far: fakeServer().tool('read', 'words') },
      catalogue,
      plan: { plugins: [...CODE_MODE, { use: 'audit', with: { logFile } }] },
    });
    await runScript(await kit.client(), 'await far.read(); await far.read(); return "s3cret in the script"');
    const lines = async () =>
      (await readFile(logFile, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    await until(async () => (await lines()).filter((line) => line.includes('"read"')).length === 2);
    await until(async () => (await lines()).some((line) => line.includes('execute_tool_script')));
    expect((await lines()).join()).not.toContain('s3cret');
  });
});
