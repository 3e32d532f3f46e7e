import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogue } from '@toolmgr/plugins';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { checkManifests, type ManifestReport } from '../../../hosts/operator/manifests/check-manifests.ts';
import { isManifest } from '../../../hosts/operator/manifests/read-manifests.ts';
import { cliSession } from '../../support/cli-session.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { readText } from '../../support/vmcp-text.ts';
import { entry, object, podOf, resolveYaml, secret, server } from '../operator/resolve/resolve-yaml.ts';

const check = (text: string): Promise<ManifestReport> => checkManifests(text, 'm.yaml', catalogue);
const SERVER = `apiVersion: toolmgr.dev/v1beta1
kind: VirtualMCPServer
metadata: { name: tools, namespace: team }
spec:
  groupRef: { name: group }
  incomingAuth: { type: anonymous }
`;

const cli = cliSession();
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('manifests');
});

describe('toolmgr vmcp validate with manifests', () => {
  it('says what a cluster would say: conditions and backends', async () => {
    const auth = object(
      'MCPExternalAuthConfig',
      'key',
      'spec: { type: bearerToken, bearerToken: { tokenSecretRef: { name: keys, key: k } } }',
    );
    const text =
      server() + entry('a', 'externalAuthConfigRef: { name: key }') + auth + secret('keys', { k: 'hunter2' });
    const report = await check(text);
    expect(report).toMatchObject({ isValid: true, objects: 5, problems: [] });
    expect(report.servers).toMatchObject([
      {
        name: 'tools',
        namespace: 'default',
        outcome: { result: 'ready' },
        backends: [{ name: 'a', url: 'https://a.example.com/mcp', authType: 'header_injection', authConfigRef: 'key' }],
        notChecked: [],
      },
    ]);
    expect(report.servers[0]?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DiscoveredAuthConfig-a', status: 'True' }),
    );
    expect(JSON.stringify(report)).not.toContain('hunter2');
  });

  it('names what the API server would refuse, with line and path', async () => {
    const two = `${SERVER}---\n${SERVER.replace('anonymous', 'anonymus').replace('name: tools', 'name: other')}`;
    const { isValid, problems, servers } = await check(two);
    expect(isValid).toBe(false);
    expect(problems).toEqual([
      expect.stringMatching(
        /^m\.yaml:8: VirtualMCPServer other: spec\.incomingAuth\.type: expected one of "anonymous", "oidc"/,
      ),
    ]);
    expect(servers.map(({ name }) => name)).toEqual(['tools']);
    const rule = await check(SERVER.replace('{ type: anonymous }', '{ type: oidc }'));
    expect(rule.problems.join()).toContain('oidcConfigRef is required when type is oidc');
    expect((await check(`${SERVER}---\n${SERVER}`)).problems).toEqual([
      'm.yaml:8: VirtualMCPServer tools: is a duplicate of line 1',
    ]);
  });

  it('lists what the file does not have as not checked, which is no error', async () => {
    const auth = '{ type: oidc, oidcConfigRef: { name: company, audience: a } }';
    const { isValid, servers } = await check(SERVER.replace('{ type: anonymous }', auth));
    expect(servers[0]?.notChecked).toEqual(['MCPGroup group', 'MCPOIDCConfig company']);
    expect(servers[0]?.conditions).toContainEqual(
      expect.objectContaining({ type: 'OIDCConfigRefValidated', status: 'False', isUnchecked: true }),
    );
    expect(isValid).toBe(true);
    const wrong = `${SERVER}  embeddingServerRef: { name: e }\n  podTemplateSpec: { spec: { containers: {} } }\n`;
    const both = await check(wrong);
    expect(both.servers[0]?.notChecked).toContain('EmbeddingServer e');
    expect(both.isValid).toBe(false);
  });

  it('does not call a group ready that the file does not have, and names a similar one', async () => {
    const group = object('MCPGroup', 'groups', 'spec: {}');
    const { isValid, servers } = await check(SERVER + group);
    expect(servers[0]?.conditions).toContainEqual({
      type: 'GroupRefValidated',
      status: 'True',
      reason: 'GroupRefValid',
      message: 'spec.groupRef: there is no MCPGroup group in the file',
      isUnchecked: true,
    });
    expect(servers[0]?.hints).toEqual(['MCPGroup group: did you mean "groups", which is in the file?']);
    expect(isValid).toBe(true);
  });

  it('accepts the manifests of the guide, whose group has no spec', async () => {
    const { isValid, servers } = await check(readFileSync('examples/kubernetes/tools.yaml', 'utf8'));
    expect(servers[0]?.outcome).toEqual({ result: 'ready' });
    expect(servers[0]?.notChecked).toEqual([]);
    expect(isValid).toBe(true);
  });

  it.each([
    [
      'MCPOIDCConfig',
      '{ type: inline, inline: { issuer: "http://issuer.example.com" } }',
      /incomingAuth\.oidc\.issuer: .*https/,
    ],
    ['MCPAuthzConfig', '{ type: cedarv1, config: { policies: ["permit(nonsense"] } }', /policies/],
    ['MCPAuthzConfig', '{ type: httpv1, config: { policies: [] } }', /supports only cedarv1/],
    ['MCPExternalAuthConfig', '{ type: obo, obo: { tenantId: a } }', /enterprise/],
    ['MCPToolConfig', '{ toolsFilter: [a], toolsOverride: { search: {} } }', /search/],
    [
      'MCPTelemetryConfig',
      '{ openTelemetry: { enabled: true, endpoint: "https://[x", tracing: { enabled: true } } }',
      /endpoint/,
    ],
    [
      'VirtualMCPCompositeToolDefinition',
      '{ name: a, steps: [{ id: a, tool: b.c, dependsOn: [d] }] }',
      /spec\.steps.*"?d"?/,
    ],
    [
      'MCPServerEntry',
      '{ groupRef: { name: group }, remoteUrl: "http://169.254.169.254/x", transport: streamable-http }',
      /spec\.remoteUrl: leads to/,
    ],
    [
      'MCPServer',
      '{ image: a, authzConfig: { type: inline, inline: { policies: ["permit(nonsense"] } } }',
      /policies\[0\]: line 1/,
    ],
    [
      'MCPServer',
      '{ image: a, podTemplateSpec: { spec: { containers: [{ image: b }] } } }',
      /spec\.podTemplateSpec: spec\.containers\[0\]: it needs name/,
    ],
    ['MCPServer', '{ image: a, groupRef: { name: group }, replicas: -1 }', /replicas/],
    [
      'MCPRemoteProxy',
      '{ remoteUrl: "https://a.example.com/mcp", authzConfig: { type: inline, inline: { policies: ["permit(nonsense"] } } }',
      /policies\[0\]: line 1/,
    ],
    ['MCPRemoteProxy', '{ remoteUrl: "http://169.254.169.254/mcp" }', /spec\.remoteUrl leads to/],
    [
      'EmbeddingServer',
      '{ podTemplateSpec: { spec: { containers: [{ image: b }] } } }',
      /spec\.podTemplateSpec: spec\.containers\[0\]: it needs name/,
    ],
  ])('checks the content of %s as the operator does: %s', async (kind, spec, problem) => {
    const { isValid, problems } = await check(`${SERVER}${object(kind, 'a', `spec: ${spec}`)}`);
    expect(problems.map((each) => each.replace(/^m\.yaml:\d+: /, ''))).toEqual([
      expect.stringMatching(new RegExp(`^${kind} a: .*${problem.source}`)),
    ]);
    expect(isValid).toBe(false);
  });

  it('takes what a server or proxy refers to and the file does not have for something of the cluster', async () => {
    const refs =
      'oidcConfigRef: { name: company, audience: a }, externalAuthConfigRef: { name: key }, toolConfigRef: { name: t }';
    const text =
      object('MCPServer', 'a', `spec: { image: a, secrets: [{ name: s, key: k }], ${refs} }`) +
      object('MCPRemoteProxy', 'b', `spec: { remoteUrl: "https://a.example.com/mcp", ${refs} }`) +
      object('MCPServer', 'c', 'spec: { image: a, permissionProfile: { type: configmap, name: p, key: k } }') +
      object('EmbeddingServer', 'd', 'spec: {}');
    expect((await check(text)).problems).toEqual([]);
  });

  it('takes objects of the namespace of the server only', async () => {
    const elsewhere = entry('a').replace('{ name: a }', '{ name: a, namespace: other }');
    expect((await check(`${SERVER}${elsewhere}`)).servers[0]?.backends).toEqual([]);
    expect((await check(`${SERVER}${entry('a')}`)).servers[0]?.backends).toHaveLength(1);
  });

  it('expects the URLs that members of the group get', async () => {
    const stdio = object('MCPServer', 'a', 'spec: { groupRef: { name: group }, image: x }');
    const proxy = object(
      'MCPRemoteProxy',
      'b',
      'spec: { groupRef: { name: group }, remoteUrl: "https://far.example.com/sse", transport: sse }',
    );
    const { servers } = await check(SERVER + stdio + proxy);
    expect(servers[0]?.backends.map(({ url }) => url)).toEqual([
      'http://mcp-a-proxy.team.svc.cluster.local:8080/mcp',
      'http://mcp-b-remote-proxy.team.svc.cluster.local:8080/sse',
    ]);
  });

  it.each([
    ['a: [', 'm.yaml:1:'],
    ['- 1', 'm.yaml:1: expected an object with apiVersion and kind'],
    ['apiVersion: v1\nkind: Secret', 'm.yaml:1: Secret: metadata.name: missing'],
  ])('refuses %j with its line', async (text, message) => {
    await expect(check(text)).rejects.toThrow(message);
  });

  it('tells manifests from vmcp files', () => {
    expect(isManifest(SERVER)).toBe(true);
    expect(isManifest('{"apiVersion":"v1","kind":"List","items":[]}')).toBe(true);
    expect(isManifest('name: dev\ngroupRef: dev\ncompositeTools: [{ kind: x }]')).toBe(false);
  });

  it('prints a report, as JSON too, and exits with 1 for a refused object', async () => {
    const file = join(folder, 'm.yaml');
    await writeFile(file, SERVER + entry('a'));
    const text = await cli(['vmcp', 'validate', '-c', file]);
    expect(text).toMatchObject({ code: 0, err: '' });
    for (const part of [
      /pods would be made/,
      /GroupRefValidated +not checked/,
      /a +https:\/\/a\.example\.com\/mcp +unauthenticated/,
      /MCPGroup group/,
      /2 objects, valid; 1 reference not checked/,
    ]) {
      expect(text.out).toMatch(part);
    }
    const json = await cli(['vmcp', 'validate', '-c', file, '--format', 'json']);
    expect(JSON.parse(json.out)).toMatchObject({ valid: true, objects: 2, servers: [{ name: 'tools' }] });
    await writeFile(file, SERVER.replace('groupRef', 'groupref'));
    const refused = await cli(['vmcp', 'validate', '-c', file]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('VirtualMCPServer tools: spec');
    await writeFile(
      file,
      `${SERVER}  config: { compositeTools: [{ name: a, steps: [{ id: a, tool: b.c, dependsOn: [d] }] }] }\n`,
    );
    const failed = await cli(['vmcp', 'validate', '-c', file]);
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/phase Failed: no pods would be made[\s\S]*Valid +False +ValidationFailed/);
  });
});

describe('one block of settings', () => {
  it('works as a file on a laptop and as spec.config in a cluster', async () => {
    const config = {
      name: 'dev',
      groupRef: 'dev',
      metadata: { owner: 'me' },
      incomingAuth: { type: 'anonymous' },
      outgoingAuth: { source: 'inline' },
      aggregation: {
        conflictResolution: 'priority',
        conflictResolutionConfig: { priorityOrder: ['a'] },
        tools: [
          {
            workload: 'a',
            filter: ['search'],
            overrides: { search: { name: 'find', annotations: { title: 'Find' } } },
          },
        ],
      },
      compositeTools: [{ name: 'both', steps: [{ id: 's', tool: 'a.search', arguments: { q: '{{.params.q}}' } }] }],
      codeMode: { enabled: true, toolCallTimeout: '10s' },
      operational: {
        timeouts: { default: '20s' },
        failureHandling: { unhealthyThreshold: 5, circuitBreaker: { enabled: true } },
      },
      passthroughHeaders: ['x-request'],
      audit: { enabled: true, component: 'mine' },
      endpoint: { path: '/tools' },
    };
    const onLaptop = (await readText(stringify(config))).plan;
    const manifest = server(`config: ${JSON.stringify(config)}`);
    expect((await check(manifest)).problems).toEqual([]);
    const { configYaml } = podOf(await resolveYaml(manifest + entry('a')));
    const inCluster = (await readText(configYaml, 'config.yaml')).plan;
    const isOfBackends = (use: string): boolean => /^(backend-sources|outgoing-auth)\//.test(use);
    const settings = ({ plugins, ...rest }: typeof onLaptop) => ({
      ...rest,
      outgoingAuth: undefined,
      plugins: plugins.filter(({ use }) => !isOfBackends(use)),
    });
    expect(settings(inCluster)).toEqual(settings(onLaptop));
    expect(inCluster.plugins.map(({ use }) => use)).toContain('backend-sources/kubernetes');
  });
});
