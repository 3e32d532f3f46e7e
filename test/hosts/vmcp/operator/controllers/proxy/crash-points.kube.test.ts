import type { Resource, ResourceType } from '@toolmgr/plugins/kubernetes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpServerPart } from '../../../../../../hosts/vmcp/operator/controllers/mcp-server/part.ts';
import { remoteProxyPart } from '../../../../../../hosts/vmcp/operator/controllers/remote-proxy/part.ts';
import { typeOfKind } from '../../../../../../hosts/vmcp/operator/kinds/kind.ts';
import { mcpRemoteProxy } from '../../../../../../hosts/vmcp/operator/kinds/mcp-remote-proxy.ts';
import { mcpServer } from '../../../../../../hosts/vmcp/operator/kinds/mcp-server.ts';
import { startControllers } from '../../../../../support/controllers.ts';
import { type CountedApi, countedApi } from '../../../../../support/counted-api.ts';
import { allCrds } from '../../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../../support/kube.ts';
import { apiOf } from '../../../../../support/kube-api.ts';

const missing = missingKube();
const LONG = 180_000;
const SETTINGS = {
  namespaces: [],
  namespace: 'x',
  identity: 'test',
  image: 'toolmgr:test',
  isOpenShift: false,
  imagePullSecrets: [],
};
const PARTS = [mcpServerPart(SETTINGS), remoteProxyPart(SETTINGS)];
const CASES = [
  { kind: mcpServer, spec: { image: 'example.com/server:1' } },
  { kind: mcpServer, spec: { image: 'example.com/server:1', transport: 'streamable-http', mcpPort: 8080 } },
  { kind: mcpRemoteProxy, spec: { remoteUrl: 'https://mcp.example.com/mcp' } },
];

describe.skipIf(missing)(`crash points of proxies${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let cluster: KubeCluster;
  let api: ReturnType<typeof apiOf>;
  let spaces = 0;
  beforeAll(async () => {
    // without the controllers of Kubernetes: only the operator writes
    cluster = await startKube({ crds: allCrds(), controllers: false });
    api = apiOf(cluster);
  }, LONG);
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const namespaceOf = async (): Promise<string> => {
    const name = `crash-${++spaces}`;
    await cluster.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return name;
  };
  /** Runs an operator until it is idle, or until it died after its last allowed write. */
  const operate = async (namespace: string, counted: CountedApi): Promise<boolean> => {
    await using running = await startControllers(
      counted.api,
      namespace,
      PARTS.flatMap(({ controllers }) => controllers),
      PARTS.flatMap(({ informers = [] }) => informers),
    );
    return await Promise.race([counted.died.then(() => true), running.idle().then(() => false)]);
  };

  it.each(CASES)(
    'an operator killed at any write of $kind.kind $spec is continued by the next, which writes nothing twice',
    async ({ kind, spec }) => {
      const type = typeOfKind(kind) as ResourceType<Resource>;
      const created = async (): Promise<string> => {
        const namespace = await namespaceOf();
        const object = { apiVersion: type.apiVersion, kind: type.kind, metadata: { namespace, name: 'tools' }, spec };
        await api.create(type, object);
        return namespace;
      };
      const whole = countedApi(api);
      expect(await operate(await created(), whole)).toBe(false);
      const undisturbed = [...whole.writes];
      expect(undisturbed.length).toBeGreaterThan(4);
      expect(undisturbed.at(-1)).toBe(`apply ${type.kind}/tools status`);

      for (let kill = 1; kill < undisturbed.length; kill++) {
        const namespace = await created();
        const first = countedApi(api, kill);
        expect(await operate(namespace, first)).toBe(true);
        const second = countedApi(api);
        await operate(namespace, second);
        expect([...first.writes, ...second.writes], `killed after write ${kill}`).toEqual(undisturbed);
        const third = countedApi(api);
        await operate(namespace, third);
        expect(third.writes).toEqual([]);
      }
    },
    LONG,
  );
});
