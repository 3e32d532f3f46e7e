import { type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect } from 'vitest';
import { farServer } from '../../support/composites.ts';
import { proves } from '../../support/proves.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';

const FLOW = {
  name: 'flow',
  steps: [
    { id: 'first', tool: 'far.echo', arguments: { message: 'begun' } },
    { id: 'ask', type: 'elicitation', message: 'sure?', schema: { type: 'object' }, dependsOn: ['first'] },
    {
      id: 'last',
      tool: 'far.echo',
      arguments: { message: '{{.steps.first.output.text}} and {{.steps.ask.output.action}}' },
      dependsOn: ['first', 'ask'],
    },
  ],
};

function replica(address: string, stateKey = 'the same on all replicas, 32 letters'): Promise<TestGateway> {
  return testGateway({
    catalogue,
    plan: {
      name: 'replicas',
      stateKey,
      plugins: [
        { use: 'stores/redis', with: { address } },
        { use: 'composite/engine', with: { compositeTools: [FLOW], store: 'redis' } },
      ],
    },
    backends: { far: farServer() },
  });
}

describe('a workflow suspended in Redis', () => {
  proves.skipIf(redisMissing, redisMissing ?? '')(
    'choice.composite.any-replica',
    'resumes once on any replica, also when the first replica is gone',
    async () => {
      await using redis = await startRedis();
      await using two = await replica(redis.address);
      await using three = await replica(redis.address);
      const capabilities = { elicitation: {} };
      const inputResponses = { ask: { action: 'accept', content: {} } };
      const begin = async () => {
        await using one = await replica(redis.address);
        const client = await one.client({ capabilities });
        const { result } = await client.request('tools/call', { name: 'flow', arguments: {} });
        return String(result?.requestState);
      };
      const goOn = async (kit: TestGateway, requestState: string) =>
        (await kit.client({ capabilities })).request('tools/call', {
          name: 'flow',
          arguments: {},
          requestState,
          inputResponses,
        });
      const done = await goOn(two, await begin());
      expect(done.result?.structuredContent).toEqual({ text: 'begun and accept' });
      const requestState = await begin();
      const race = await Promise.all([two, three, two, three].map((kit) => goOn(kit, requestState)));
      expect(race.filter(({ result }) => result?.structuredContent !== undefined)).toHaveLength(1);
      expect(race.filter(({ error }) => error?.code === -32602)).toHaveLength(3);
      await using stranger = await replica(redis.address, 'another key that is long enough to be one');
      expect((await goOn(stranger, await begin())).error?.code).toBe(-32602);
    },
  );
});
