import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import getPort from 'get-port';
import { describe, expect, it } from 'vitest';
import { mcpServerPart } from '../../../../../hosts/operator/controllers/mcp-server/part.ts';
import { SERVER_IMAGE } from '../../../../support/container-engine.ts';
import { allCrds } from '../../../../support/crds.ts';
import { missingKubeNode, startKubeNode } from '../../../../support/kube-node.ts';
import { runControllers } from '../../../../support/running-controllers.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { until } from '../../../../support/until.ts';
import { startToolmgr } from '../../../run/toolmgr.ts';

const missing = missingKubeNode();
const LONG = 300_000;
const SETTINGS = {
  ...{ namespaces: [], namespace: 'x', identity: 'test', image: 'localhost/none:1', imagePullSecrets: [] },
  isOpenShift: false,
};

describe.skipIf(missing)(`a stdio server in a real pod${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  it(
    'answers through a proxy that has only the rights of its Role, and again after its pod was deleted and the proxy killed',
    async () => {
      await using node = await startKubeNode({ crds: allCrds() });
      const { kubectl } = node.cluster;
      await node.loadServer();
      await using _ = await runControllers(node.cluster, [mcpServerPart(SETTINGS)]);
      const server = {
        ...{ apiVersion: 'toolmgr.dev/v1beta1', kind: 'MCPServer', metadata: { name: 'tools', namespace: 'default' } },
        spec: { image: SERVER_IMAGE, args: ['stdio'], permissionProfile: { type: 'builtin', name: 'none' } },
      };
      await kubectl(['apply', '--server-side'], JSON.stringify(server));
      const podUid = (): Promise<string> =>
        kubectl([
          'get',
          'pod',
          'tools-0',
          '-o',
          'jsonpath={.metadata.uid}/{.status.containerStatuses[0].containerID}',
        ]).catch(() => '');
      await until(async () => (await podUid()).includes('containerd'), 120_000).catch(async (cause) => {
        throw new Error(await node.explain('default'), { cause });
      });

      // the proxy runs here, with the run configuration and the service account of the operator
      const folder = temporaryFolder('attach');
      const token = await kubectl(['create', 'token', 'tools-proxy-runner']);
      await writeFile(join(folder, 'token'), token.trim());
      await writeFile(join(folder, 'ca.crt'), await readFile(node.cluster.caFile));
      const text = await kubectl(['get', 'configmap', 'tools-runconfig', '-o', 'jsonpath={.data.runconfig\\.json}']);
      const port = await getPort();
      const plugins = [{ use: 'workloads/kubernetes', with: { serviceAccountFolder: folder } }];
      const file = join(folder, 'runconfig.json');
      await writeFile(file, JSON.stringify({ ...JSON.parse(text), host: '127.0.0.1', port, plugins }));
      const { hostname, port: apiPort } = new URL(node.cluster.server);
      const args = ['run', '--from-config', file, '--foreground', '--supervised'];
      const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: apiPort, TMPDIR: folder };
      let proxy = startToolmgr(folder, args, '/', env);
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      let client = new Client({ name: 'test', version: '1' });
      const echo = async (message: string): Promise<string> => {
        const { content } = await client.callTool({ name: 'echo', arguments: { message } });
        return (content as { text: string }[])[0]?.text ?? '';
      };
      const untilReady = (): Promise<void> =>
        until(async () => (await fetch(new URL('/readyz', url)).catch(() => undefined))?.status === 200, 120_000).catch(
          async (cause) => {
            throw new Error(`${proxy.err()}\n${await node.explain('default')}`, { cause });
          },
        );
      const answers = (): Promise<void> =>
        until(async () => (await echo('hi').catch(() => '')).includes('hi'), 120_000).catch(async (cause) => {
          throw new Error(`${proxy.err()}\n${await node.explain('default')}`, { cause });
        });
      try {
        await untilReady();
        await client.connect(new StreamableHTTPClientTransport(url));
        await answers();

        const first = await podUid();
        await kubectl(['delete', 'pod', 'tools-0', '--grace-period=1']);
        await answers();
        const second = await podUid();
        expect(second).not.toBe(first);

        // the end of its connection ends the server, so that the next proxy gets a new process
        proxy.child.kill('SIGKILL');
        await proxy.ended;
        proxy = startToolmgr(folder, args, '/', env);
        await until(async () => (await podUid()) !== second, 120_000);
        client = new Client({ name: 'test', version: '1' });
        await untilReady();
        await client.connect(new StreamableHTTPClientTransport(url));
        await answers();
        expect(proxy.err()).not.toContain(token.trim());
      } finally {
        await client.close();
        proxy.child.kill('SIGTERM');
        await proxy.ended;
      }
      // nothing but its own pod
      const as = ['--as=system:serviceaccount:default:tools-proxy-runner'];
      const may = (...what: string[]): Promise<string> => kubectl(['auth', 'can-i', ...what, ...as]).catch(() => 'no');
      expect((await may('get', 'pods/tools-0')).trim()).toBe('yes');
      expect((await may('get', 'pods/other-0')).trim()).toBe('no');
      expect((await may('list', 'pods')).trim()).toBe('no');
      expect((await may('get', 'secrets')).trim()).toBe('no');
    },
    LONG,
  );
});
