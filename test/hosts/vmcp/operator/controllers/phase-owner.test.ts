import { type Api, createApi, type Resource } from '@toolmgr/plugins/kubernetes';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { typeNamed } from '../../../../../hosts/vmcp/operator/controllers/references.ts';
import { configMaps } from '../../../../../hosts/vmcp/operator/objects/built-in-kinds.ts';
import { PARTS } from '../../../../../hosts/vmcp/operator/parts.ts';
import { settingsFrom } from '../../../../../hosts/vmcp/operator/settings.ts';
import { conditionsIn, startControllers } from '../../../../support/controllers.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { apiOf, connectionTo } from '../../../../support/kube-api.ts';
import { own } from '../../../../support/own-objects.ts';
import { proves } from '../../../../support/proves.ts';
import { until } from '../../../../support/until.ts';

const missing = missingKube();
const WAIT_MS = 60_000;
const NS = 'default';
const SERVERS = '/apis/toolmgr.dev/v1beta1/namespaces/default/virtualmcpservers/tools';

describe.skipIf(missing !== undefined)(`all controllers on a real API server ${missing ?? ''}`, () => {
  let cluster: KubeCluster;
  let api: Api;
  beforeAll(async () => {
    cluster = await startKube({ crds: allCrds(), controllers: false });
    api = apiOf(cluster);
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  proves(
    'choice.operator.phase-owner',
    'the operator alone writes the phase: it is the only manager of the field, and the account of the pods may not write it',
    async () => {
      const parts = PARTS.map((part) => part(settingsFrom({}, { namespace: NS, identity: 'test' })));
      const controllers = parts.flatMap((part) => part.controllers);
      await using running = await startControllers(
        api,
        NS,
        controllers,
        parts.flatMap((part) => part.informers ?? []),
      );
      const make = (kind: string, name: string, spec: object) => api.create(typeNamed(kind), own(kind, NS, name, spec));
      await make('MCPGroup', 'team', {});
      await make('MCPServerEntry', 'entry', { groupRef: { name: 'team' } });
      await make('VirtualMCPServer', 'tools', { groupRef: { name: 'team' } });
      const read = () => api.get(typeNamed('VirtualMCPServer'), { namespace: NS, name: 'tools' }) as Promise<Server>;
      await until(async () => conditionsIn(await read()).GroupRefValidated?.startsWith('True') === true, WAIT_MS);
      await until(async () => (await read()).status?.url !== undefined, WAIT_MS);
      await running.idle();
      const { metadata } = (await cluster.request('GET', SERVERS)).body as Server;
      const managers = metadata.managedFields.filter((entry) => JSON.stringify(entry.fieldsV1).includes('"f:phase"'));
      expect(managers.map(({ manager, subresource }) => [manager, subresource])).toEqual([
        ['toolmgr-operator', 'status'],
      ]);

      const account = '/api/v1/namespaces/default/serviceaccounts/tools-vmcp/token';
      const token = ((await cluster.request('POST', account, { spec: {} })).body as { status: { token: string } })
        .status.token;
      const asPod = createApi(connectionTo(cluster, token));
      const key = { namespace: NS, name: 'tools' };
      const status = { status: { phase: 'Ready' } };
      const forbidden = { status: 403 };
      await expect(
        asPod.patch(typeNamed('VirtualMCPServer'), key, status, { subresource: 'status' }),
      ).rejects.toMatchObject(forbidden);
      await expect(asPod.patch(typeNamed('VirtualMCPServer'), key, status)).rejects.toMatchObject(forbidden);
      await asPod.patch(configMaps, { namespace: NS, name: 'tools-vmcp-report' }, { data: { pod: '{}' } });
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
