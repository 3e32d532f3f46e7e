import { fakeServer, type TestBackends, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';

const bucket = { maxTokens: 1, refillPeriod: '1s' };
const policies = [
  'permit(principal, action, resource);',
  '@id("slip") forbid(principal, action, resource == Tool::"writte");',
  '@id("sound") forbid(principal, action, resource == Tool::"write") unless { resource == Tool::"far_read" };',
  '@id("inside") forbid(principal, action, resource) when { resource == Prompt::"as\\"k" };',
];

const gatewayOver = (backends: TestBackends) =>
  testGateway({
    backends,
    catalogue,
    plan: {
      plugins: [
        { use: 'authorization/cedar', with: { policies } },
        { use: 'stores/memory' },
        { use: 'rate-limit', with: { store: 'memory', tools: [{ name: 'read', shared: bucket }] } },
      ],
    },
  });

/** Sentences of the log about names. */
const told = ({ logged }: { readonly logged: readonly string[] }) =>
  logged
    .map((line) => (JSON.parse(line) as { warning?: string }).warning ?? '')
    .filter((warning) => warning.includes('which does not exist'))
    .sort();

describe('names of tools and prompts in settings', () => {
  it('that nothing has are told, with the one that is probably meant', async () => {
    await using kit = await gatewayOver({ far: fakeServer().tool('write').tool('far_read').prompt('ask', 'well?') });
    await until(() => told(kit).length === 3);
    expect(told(kit)).toEqual([
      'authorization/cedar: inside names prompt "as"k", which does not exist, did you mean "ask"?',
      'authorization/cedar: slip names tool "writte", which does not exist, did you mean "write"?',
      'rate-limit: tools[0].name names tool "read", which does not exist, did you mean "far_read"?',
    ]);
  });

  it('are not judged while a backend has no list', async () => {
    const dead = { url: 'http://127.0.0.1:9/mcp', transport: 'streamable-http' } as const;
    await using kit = await gatewayOver({ far: fakeServer().tool('write'), dead });
    await kit.gateway.settled();
    expect(kit.gateway.catalog().allTools().length).toBe(1);
    expect(told(kit)).toEqual([]);
  });
});
