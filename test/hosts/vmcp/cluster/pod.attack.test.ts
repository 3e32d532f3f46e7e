import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createApi } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { connectionTo } from '../../../support/kube-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { podRig } from '../../../support/pod.ts';
import { recordingServer } from '../../../support/recording-server.ts';
import { until } from '../../../support/until.ts';

const LONG = 180_000;
const WAIT = 60_000;
const SECRETS = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };
const CONFIG_MAPS = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };

describe.skipIf(kubeSkipped)(`a holder of the pod's token${kubeSkipped}`, () => {
  const suite = kubeSuite();

  it(
    'reads the named secrets only, and can neither list secrets nor write the backends',
    async () => {
      await using rig = await podRig(suite.cluster, ['far-key']);
      await rig.writeSecret('far-key', { value: 'mine' });
      await rig.writeSecret('other', { value: 'not mine' });
      await rig.publish([]);
      await using api = createApi(connectionTo(suite.cluster, rig.token));
      const { namespace } = rig;
      expect(await api.get(SECRETS, { namespace, name: 'far-key' })).toBeDefined();
      for (const refused of [
        () => api.get(SECRETS, { namespace, name: 'other' }),
        () => api.list(SECRETS, { namespace }),
        () => api.list(CONFIG_MAPS, { namespace }),
        () => api.get(SECRETS, { namespace: 'kube-system', name: 'far-key' }),
        () => api.patch(CONFIG_MAPS, { namespace, name: 'tools-vmcp-backends' }, { data: {} }),
        () => api.remove(CONFIG_MAPS, { namespace, name: 'tools-vmcp-report' }),
      ]) {
        await expect(refused()).rejects.toMatchObject({ status: 403 });
      }
    },
    LONG,
  );

  it(
    'a backend whose secret the Role does not name gets no request, and the others are served',
    async () => {
      await using far = await recordingServer();
      await using rig = await podRig(suite.cluster, ['far-key']);
      await rig.writeSecret('far-key', { value: 'mine' });
      await rig.writeSecret('other', { value: 'not mine' });
      const backend = (name: string, key: string) =>
        ({
          name,
          url: far.url,
          transport: 'streamable-http',
          auth: { type: 'header_injection', options: { headerName: 'X-Api-Key', headerValueEnv: key } },
        }) as const;
      await rig.publish(
        [
          backend('good', 'MINE'),
          backend('forbidden', 'OTHER'),
          { ...backend('unknown', 'MINE'), auth: { type: 'no_such_strategy' } },
          { ...backend('loop', 'MINE'), auth: { type: 'discovered' } },
        ],
        { MINE: { name: 'far-key', key: 'value' }, OTHER: { name: 'other', key: 'value' } },
      );
      await using pod = await rig.start('pod-f', {
        operational: { failureHandling: { partialFailureMode: 'best_effort' } },
      });
      const [, url = ''] = await pod.printed(/serves (http:\S+)/, WAIT);
      await until(() => /backend ready/.test(pod.err()), WAIT);
      await until(async () => (await rig.reports())['pod-f'] !== undefined, WAIT);
      const client = new Client({ name: 'c', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      await client.callTool({ name: 'good_echo', arguments: { message: 'hi' } });
      for (const name of ['forbidden', 'unknown', 'loop']) {
        await client.callTool({ name: `${name}_echo`, arguments: { message: 'hi' } }).catch(() => undefined);
      }
      expect(far.calls.map((headers) => headers['x-api-key'])).toEqual(['mine']);
      await until(async () => (await rig.reports())['pod-f']?.backends.length === 4, WAIT);
      const reported = (await rig.reports())['pod-f']?.backends ?? [];
      for (const name of ['forbidden', 'unknown', 'loop']) {
        expect(reported.find((one) => one.name === name)).toMatchObject({
          status: 'unavailable',
          message: 'credentials not available',
        });
      }
      expect(pod.err() + JSON.stringify(reported)).not.toContain('not mine');
      await client.close();
    },
    LONG,
  );
});
