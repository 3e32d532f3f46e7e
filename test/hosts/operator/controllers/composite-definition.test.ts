import type { Resource } from '@toolmgr/plugins/kit/kubernetes';
import { beforeEach, describe, expect, it } from 'vitest';
import { compositeDefinitionController } from '../../../../hosts/operator/controllers/composite-definition.ts';
import { typeNamed } from '../../../../hosts/operator/controllers/references.ts';
import { conditionsIn, startControllers } from '../../../support/controllers.ts';
import { countedApi } from '../../../support/counted-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { own } from '../../../support/own-objects.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';

const WAIT_MS = 60_000;
const KIND = 'VirtualMCPCompositeToolDefinition';
const TYPE = typeNamed(KIND);
const tool = (id: string, more: object = {}) => ({ id, tool: 'x.y', ...more });

/** Definitions that the API server accepts and no aggregator starts with. */
const INVALID = [
  ['cycle', [tool('a', { dependsOn: ['b'] }), tool('b', { dependsOn: ['a'] })], {}, 'DependencyCycle', 'a -> b -> a'],
  ['template', [tool('a', { arguments: { q: '{{.params.q' } })], {}, 'TemplateInvalid', 'spec.steps[0].arguments.q'],
  ['schema', [tool('a')], { parameters: { type: 'string' } }, 'SchemaInvalid', 'spec.parameters'],
  ['unknown-step', [tool('a', { dependsOn: ['nowhere'] })], {}, 'ValidationFailed', 'nowhere'],
  ['itself', [{ id: 'a', tool: 'itself' }], {}, 'DependencyCycle', 'itself -> itself'],
] as const;

describe.skipIf(kubeSkipped)(`composite tool definitions on a real API server${kubeSkipped}`, () => {
  const { api, namespace: newNamespace } = kubeSuite();
  let namespace: string;
  beforeEach(async () => {
    namespace = await newNamespace();
  });

  const statusOf = async (name: string) =>
    ((await api.get(TYPE, { namespace, name })) as Resource<object, Status> | undefined)?.status;

  proves(
    ['vmcp.config.composite-tool-refs', 'vmcp.related.composite-tool-definition'],
    'a valid definition is ready and names the servers that offer it, as long as they do',
    async () => {
      await using running = await startControllers(api, namespace, [compositeDefinitionController]);
      await api.create(TYPE, own(KIND, namespace, 'flow'));
      const gateway = (name: string, refs: readonly string[]) =>
        api.apply(
          typeNamed('VirtualMCPServer'),
          own('VirtualMCPServer', namespace, name, {
            config: { compositeToolRefs: refs.map((ref) => ({ name: ref })) },
          }),
          { manager: 'test', force: true },
        );
      await gateway('b', ['flow', 'other']);
      await gateway('a', ['flow']);
      const servers = async () => (await statusOf('flow'))?.referencingVirtualServers?.join();
      await until(async () => (await servers()) === 'a,b', WAIT_MS);
      const status = await statusOf('flow');
      expect(status).toMatchObject({ validationStatus: 'Valid', observedGeneration: 1 });
      expect(status).not.toHaveProperty('validationErrors');
      expect(conditionsIn({ status })).toEqual({
        WorkflowValidated: 'True/ValidationSuccess',
        Ready: 'True/WorkflowReady',
      });
      await gateway('b', ['other']);
      await until(async () => (await servers()) === 'a', WAIT_MS);
      await api.remove(typeNamed('VirtualMCPServer'), { namespace, name: 'a' });
      await until(async () => (await servers()) === '', WAIT_MS);
      expect(running.failures).toEqual([]);
    },
  );

  it('an invalid definition says what is wrong and where, and recovers', async () => {
    await using running = await startControllers(api, namespace, [compositeDefinitionController]);
    for (const [name, steps, more] of INVALID)
      await api.create(TYPE, own(KIND, namespace, name, { name, steps, ...more }));
    for (const [name, , , reason, words] of INVALID) {
      await until(async () => (await statusOf(name))?.validationStatus !== undefined, WAIT_MS);
      const status = await statusOf(name);
      expect(conditionsIn({ status }), name).toEqual({
        WorkflowValidated: `False/${reason}`,
        Ready: 'False/WorkflowNotReady',
      });
      expect(status?.validationStatus).toBe('Invalid');
      expect(status?.validationErrors?.join('\n')).toContain(words);
      expect(running.events.filter((event) => event.endsWith(`/${name}`))).toEqual([`${reason} ${KIND}/${name}`]);
    }
    await api.patch(TYPE, { namespace, name: 'cycle' }, { spec: { steps: [tool('a')] } });
    await until(async () => (await statusOf('cycle'))?.validationStatus === 'Valid', WAIT_MS);
    expect(await statusOf('cycle')).not.toHaveProperty('validationErrors');
    expect(running.failures).toEqual([]);
  });

  it('the operator is killed after its write, and the next one writes nothing', async () => {
    await api.create(TYPE, own(KIND, namespace, 'killed'));
    const first = countedApi(api, 1);
    await using _dying = await startControllers(first.api, namespace, [compositeDefinitionController]);
    await first.died;
    const second = countedApi(api);
    await using running = await startControllers(second.api, namespace, [compositeDefinitionController]);
    await running.idle();
    expect(await statusOf('killed')).toMatchObject({ validationStatus: 'Valid' });
    expect([...first.writes, ...second.writes]).toEqual([`apply ${KIND}/killed status`]);
  });
});

interface Status {
  readonly validationStatus?: string;
  readonly validationErrors?: readonly string[];
  readonly referencingVirtualServers?: readonly string[];
}
