import { createApi, type Resource } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect } from 'vitest';
import { typeNamed } from '../../../../hosts/operator/controllers/references.ts';
import { configMaps } from '../../../../hosts/operator/objects/built-in-kinds.ts';
import { PARTS } from '../../../../hosts/operator/parts.ts';
import { settingsFrom } from '../../../../hosts/operator/settings.ts';
import { conditionsIn, startControllers } from '../../../support/controllers.ts';
import { connectionTo } from '../../../support/kube-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { own } from '../../../support/own-objects.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';

const WAIT_MS = 60_000;

describe.skipIf(kubeSkipped)(`all controllers on a real API server${kubeSkipped}`, () => {
  const suite = kubeSuite();
  const { api } = suite;

  proves(
    'choice.operator.phase-owner',
    'the operator alone writes the phase: it is the only manager of the field, and the account of the pods may not write it',
    async () => {
      const namespace = await suite.namespace();
      const servers = `/apis/toolmgr.dev/v1beta1/namespaces/${namespace}/virtualmcpservers/tools`;
      const parts = PARTS.map((part) => part(settingsFrom({}, { namespace, identity: 'test' })));
      const controllers = parts.flatMap((part) => part.controllers);
      await using running = await startControllers(
        api,
        namespace,
        controllers,
        parts.flatMap((part) => part.informers ?? []),
      );
      const make = (kind: string, name: string, spec: object) =>
        api.create(typeNamed(kind), own(kind, namespace, name, spec));
      await make('MCPGroup', 'team', {});
      await make('MCPServerEntry', 'entry', { groupRef: { name: 'team' } });
      await make('VirtualMCPServer', 'tools', { groupRef: { name: 'team' } });
      const read = () => api.get(typeNamed('VirtualMCPServer'), { namespace, name: 'tools' }) as Promise<Server>;
      await until(async () => conditionsIn(await read()).GroupRefValidated?.startsWith('True') === true, WAIT_MS);
      await until(async () => (await read()).status?.url !== undefined, WAIT_MS);
      await running.idle();
      const { metadata } = (await suite.request('GET', servers)).body as Server;
      const managers = metadata.managedFields.filter((entry) => JSON.stringify(entry.fieldsV1).includes('"f:phase"'));
      expect(managers.map(({ manager, subresource }) => [manager, subresource])).toEqual([
        ['toolmgr-operator', 'status'],
      ]);

      const account = `/api/v1/namespaces/${namespace}/serviceaccounts/tools-vmcp/token`;
      const token = ((await suite.request('POST', account, { spec: {} })).body as { status: { token: string } }).status
        .token;
      const asPod = createApi(connectionTo(suite.cluster, token));
      const key = { namespace, name: 'tools' };
      const status = { status: { phase: 'Ready' } };
      const forbidden = { status: 403 };
      await expect(
        asPod.patch(typeNamed('VirtualMCPServer'), key, status, { subresource: 'status' }),
      ).rejects.toMatchObject(forbidden);
      await expect(asPod.patch(typeNamed('VirtualMCPServer'), key, status)).rejects.toMatchObject(forbidden);
      await asPod.patch(configMaps, { namespace, name: 'tools-vmcp-report' }, { data: { pod: '{}' } });
      await asPod[Symbol.asyncDispose]();
      expect(running.failures).toEqual([]);
    },
  );
});

type Server = Resource<object, { url?: string }> & {
  readonly metadata: {
    readonly managedFields: readonly { manager: string; subresource?: string; fieldsV1: object }[];
  };
};
