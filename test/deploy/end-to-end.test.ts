import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_IMAGE } from '../support/container-engine.ts';
import { httpBrowser } from '../support/http-browser.ts';
import { type KubeNode, missingKubeNode } from '../support/kube-node.ts';
import { PLUGIN_IMAGE, productImageMissing } from '../support/product-image.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';
import { providerFor, signInWith } from '../support/sign-in-gateway.ts';
import { until } from '../support/until.ts';
import {
  addressOf,
  hasPhase,
  installedCluster,
  later,
  loadRedis,
  podsOf,
  REDIS,
  rolledOut,
  statusOf,
} from './cluster-rig.ts';
import { authServerOf, signInObjects } from './sign-in-objects.ts';

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
    await loadRedis(node);
    await node.cluster.kubectl(['--namespace', 'team', 'apply'], REDIS);
    await rolledOut(node, 'team', 'deployment/redis');
    // the server of the image ignores SIGTERM, and serves its connections until it is killed
    const backend = (await manifest('backend')).replace(/( +)containers:/, '$1terminationGracePeriodSeconds: 1\n$&');
    await node.cluster.kubectl(['--namespace', 'team', 'apply'], backend);
    // on a busy machine a backend may take more than a second; one that is away may leave a probe without an answer
    const tools = (await manifest('tools')).replace(EXAMPLE_HEALTH, 'healthCheckInterval: 1s, healthCheckTimeout: 3s');
    expect(tools).toContain('healthCheckInterval: 1s');
    await node.cluster.kubectl(['--namespace', 'team', 'apply'], `${tools.trimEnd()}\n${REPLICATED}`);
    await rolledOut(node, 'team', 'deployment/everything');
    await rolledOut(node, 'team', 'deployment/tools');
    await hasPhase(node, 'team', 'tools', 'Ready');
    const url = new URL(`http://${await addressOf(node, 'team', 'vmcp-tools')}/mcp`);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url));
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name)).toContain('everything_echo');
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

  proves(
    'ask.operator.plugin-image',
    'pods load a plugin of an image, and while new ones cannot, the condition has their message and the old ones serve',
    async () => {
      const text = (await manifest('plugin')).replace(EXAMPLE_PLUGIN_IMAGE, PLUGIN_IMAGE);
      await node.cluster.kubectl(['--namespace', 'team', 'apply'], text);
      await rolledOut(node, 'team', 'deployment/masked');
      const loaded = async () =>
        (await later(() => statusOf(node, 'team', 'masked'))).conditions?.find(
          ({ type }) => type === 'OwnPluginsLoaded',
        );
      await until(async () => (await loaded())?.status === 'True', 120_000);
      const url = new URL(`http://${await addressOf(node, 'team', 'vmcp-masked')}/mcp`);
      const echoed = async (): Promise<string> => {
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(new StreamableHTTPClientTransport(url));
        const result = await client.callTool({ name: 'everything_echo', arguments: { message: 'use tok_0123456789' } });
        await client.close();
        return JSON.stringify(result);
      };
      expect(await echoed()).toContain('Echo: use [masked]');

      const plugins = [{ use: '/app/own/mask-secrets.ts', with: { patterns: [] } }];
      await kubectl(
        'patch',
        'vmcp',
        'masked',
        '--type=merge',
        `--patch=${JSON.stringify({ spec: { config: { plugins } } })}`,
      );
      await until(async () => (await loaded())?.status === 'False', 180_000);
      expect((await loaded())?.message).toContain('patterns');
      expect(await echoed()).toContain('Echo: use [masked]');
      await kubectl('delete', 'vmcp', 'masked');
    },
    LONG,
  );

  it('loses no call while three pods with sessions in Redis are replaced under load', { timeout: LONG }, async () => {
    const before = await podsOf(node, 'team', 'tools');
    const url = new URL(`http://${await addressOf(node, 'team', 'vmcp-tools')}/mcp`);
    const clients = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(new StreamableHTTPClientTransport(url));
        return client;
      }),
    );
    let isOver = false;
    let calls = 0;
    const failures: string[] = [];
    const load = clients.map(async (client) => {
      while (!isOver) {
        const message = `call ${calls++}`;
        const answer = await client.callTool({ name: 'everything_echo', arguments: { message } }).then(
          (result) => JSON.stringify(result),
          (cause) => `failed: ${cause}`,
        );
        if (!answer.includes(`Echo: ${message}`)) failures.push(answer);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    await kubectl('rollout', 'restart', 'deployment/tools');
    await rolledOut(node, 'team', 'deployment/tools');
    await until(async () => (await podsOf(node, 'team', 'tools')).every((name) => !before.includes(name)), 120_000);
    isOver = true;
    await Promise.all(load);
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(20);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('people sign in at one of three pods, and every pod accepts and renews their tokens', {
    timeout: LONG,
  }, async () => {
    const issuer = `http://${await addressOf(node, 'team', 'vmcp-tools')}`;
    const url = `${issuer}/mcp`;
    await using provider = await providerFor(url, node.hostAddress);
    await node.cluster.kubectl(['--namespace', 'team', 'apply'], signInObjects(issuer));
    const spec = {
      incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'own', audience: url, resourceUrl: url } },
      authServerConfig: authServerOf(issuer, provider.issuer),
    };
    await kubectl('patch', 'vmcp', 'tools', '--type=merge', `--patch=${JSON.stringify({ spec })}`);
    const isClosed = async (): Promise<boolean> => (await fetch(url, { method: 'POST' })).status === 401;
    await until(() => isClosed().catch(() => false), 120_000);
    await rolledOut(node, 'team', 'deployment/tools');
    await hasPhase(node, 'team', 'tools', 'Ready');
    await until(async () => (await podsOf(node, 'team', 'tools')).length === 3, 120_000);

    const signedIn = await signInWith({ issuer, url }, httpBrowser());
    const callWith = async (token: string): Promise<string> => {
      const client = new Client({ name: 'test', version: '1' });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      const result = await client.callTool({ name: 'everything_echo', arguments: { message: 'signed in' } });
      await client.close();
      return JSON.stringify(result);
    };
    // the Service chooses a pod per connection
    for (let times = 0; times < 6; times++) expect(await callWith(signedIn.access_token)).toContain('Echo: signed in');
    let refreshToken = signedIn.refresh_token;
    for (let times = 0; times < 4; times++) {
      const { client_id } = signedIn;
      const form = new URLSearchParams({ grant_type: 'refresh_token', client_id, refresh_token: refreshToken });
      const headers = { connection: 'close' };
      const answer = await fetch(`${issuer}/oauth/token`, { method: 'POST', body: form, headers });
      const renewed = (await answer.json()) as { readonly access_token: string; readonly refresh_token: string };
      expect(answer.status).toBe(200);
      expect(await callWith(renewed.access_token)).toContain('Echo: signed in');
      refreshToken = renewed.refresh_token;
    }
    await expect(callWith('no-token')).rejects.toThrow();
  });
});

const EXAMPLE_IMAGE = 'registry.example/everything:1';
const EXAMPLE_PLUGIN_IMAGE = 'registry.example/toolmgr-masked:1';
const EXAMPLE_HEALTH = 'healthCheckInterval: 10s, healthCheckTimeout: 5s';
/** More of the specification of `tools`: three pods with sessions in Redis. */
const REPLICATED = `  replicas: 3
  sessionAffinity: None
  sessionStorage:
    provider: redis
    address: redis.team.svc.cluster.local:6379
    passwordRef: { name: redis, key: password }
`;
