import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_IMAGE } from '../support/container-engine.ts';
import { type KubeNode, missingKubeNode } from '../support/kube-node.ts';
import { productImageMissing } from '../support/product-image.ts';
import { rig } from '../support/rig.ts';
import { addressOf, hasPhase, installedCluster, rolledOut } from './cluster-rig.ts';

const helm = rig('helm');
const missing = missingKubeNode() ?? productImageMissing() ?? ('missing' in helm ? helm.missing : undefined);
const LONG = 600_000;
const MANIFESTS = join(import.meta.dirname, '../../examples/kubernetes');

describe.skipIf(missing)(`A cluster with the charts${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  let node: KubeNode;
  beforeAll(async () => {
    node = await installedCluster();
    await node.cluster.kubectl(['create', 'namespace', 'team']);
  }, 1_200_000);
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
  }, LONG);
  const kubectl = (...args: readonly string[]) => node.cluster.kubectl(['--namespace', 'team', ...args]);
  const manifest = async (name: string): Promise<string> => {
    const text = await readFile(join(MANIFESTS, `${name}.yaml`), 'utf8');
    return text.replaceAll(EXAMPLE_IMAGE, SERVER_IMAGE);
  };

  it('serves the tools of a group through a Service, and says when a backend is away', { timeout: LONG }, async () => {
    await node.cluster.kubectl(['--namespace', 'team', 'apply'], await manifest('backend'));
    await node.cluster.kubectl(['--namespace', 'team', 'apply'], await manifest('tools'));
    await rolledOut(node, 'team', 'deployment/everything');
    await rolledOut(node, 'team', 'deployment/tools');
    await hasPhase(node, 'team', 'tools', 'Ready');
    const url = new URL(`http://${await addressOf(node, 'team', 'vmcp-tools')}/mcp`);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('everything_echo');
    const call = () => client.callTool({ name: 'everything_echo', arguments: { message: 'hello' } });
    expect(JSON.stringify(await call())).toContain('Echo: hello');
    const table = await kubectl('get', 'vmcp');
    expect(table).toMatch(/tools +Ready +http:\/\/vmcp-tools\.team\.svc\.cluster\.local:4483 +1 /);

    await kubectl('scale', 'deployment', 'everything', '--replicas=0');
    await hasPhase(node, 'team', 'tools', 'Degraded');
    await kubectl('scale', 'deployment', 'everything', '--replicas=1');
    await hasPhase(node, 'team', 'tools', 'Ready');
    expect(JSON.stringify(await call())).toContain('Echo: hello');
    await client.close();
  });
});

const EXAMPLE_IMAGE = 'registry.example/everything:1';
