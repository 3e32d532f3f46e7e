import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { VirtualMcpServer } from '../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import { fileObjects } from '../../../../hosts/operator/manifests/file-objects.ts';
import { conditionSuffix, envName, volumeName } from '../../../../hosts/operator/resolve/env-name.ts';
import { resolveServer } from '../../../../hosts/operator/resolve/resolve-server.ts';
import { own } from '../../../support/own-objects.ts';
import { conditions, entry, messageOf, object, podOf, resolveYaml, secret, server } from './resolve-yaml.ts';

const LONG = 'a'.repeat(253);
const NAMES = [
  ...[
    'a.b',
    'a-b',
    'a--b',
    'a',
    LONG,
    `${'a'.repeat(252)}b`,
    'a..b',
    '-a',
    'a\nPATH',
    'PATH=x',
    '../../etc',
    '{{.Values.x}}',
    '$(PATH)',
  ],
  ...['a: b', '"', "'", '__proto__', 'constructor', 'ä', '', ' ', 'a_b', 'A-B', `a-b${envName('X', 'a.b').slice(5)}`],
];

describe('names that a user chose', () => {
  it('become variables that no other name has, and that hold nothing else', () => {
    const made = NAMES.map((name) => envName('TOOLMGR_X', name));
    for (const name of made) expect(name).toMatch(/^TOOLMGR_X_[A-Z0-9_]{0,70}$/);
    expect(new Set(made).size).toBe(NAMES.length);
  });

  it('become volumes that no other name has', () => {
    const made = NAMES.map((name) => volumeName('ca', name));
    for (const name of made) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    for (const name of made) expect(name.length).toBeLessThanOrEqual(63);
    expect(new Set(made).size).toBe(NAMES.length);
  });

  it('become types of conditions that the API server accepts', () => {
    const made = NAMES.map((name) => `DiscoveredAuthConfig-${conditionSuffix(name)}`);
    for (const type of made) expect(type).toMatch(/^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/);
    for (const type of made) expect(type.length).toBeLessThanOrEqual(316);
    expect(new Set(made).size).toBe(NAMES.length);
  });
});

describe('a member with a hostile name', () => {
  it.each(['../../etc', 'a\nname: evil', '{{ .Values.x }}', '$(POD_NAME)', '__proto__', 'UPPER'])(
    '%j is left out of the file and of the pod',
    async (name) => {
      for (const source of ['discovered', 'inline']) {
        const evil = entry('evil', 'caBundleRef: { configMapRef: { name: ca } }').replace(
          'metadata: { name: evil }',
          `metadata: { name: ${JSON.stringify(name)} }`,
        );
        const text = server(`outgoingAuth: { source: ${source} }`) + evil + entry('good');
        const resolution = await resolveYaml(text);
        const { configYaml, documentJson = '', env, volumes, volumeMounts } = podOf(resolution);
        expect(configYaml + documentJson).not.toContain('evil.example.com');
        expect([env, volumes, volumeMounts]).toEqual([[], [], []]);
        expect(messageOf(resolution, 'BackendsDiscovered')).toContain('its name is no DNS subdomain');
      }
    },
  );

  it('at the limit gets names within the limits of Kubernetes', async () => {
    const ca = object(
      'ConfigMap',
      'ca',
      'data: { ca.crt: "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----" }',
    );
    const forward =
      'headerForward: { addHeadersFromSecret: [{ headerName: X-Key, valueSecretRef: { name: keys, key: k } }] }';
    const long = entry('x', `caBundleRef: { configMapRef: { name: ca } }, ${forward}`).replace(
      'name: x }',
      `name: ${LONG} }`,
    );
    const text = server('outgoingAuth: { source: inline }') + ca + secret('keys', { k: 'v' }) + long;
    const { env, volumes, volumeMounts } = podOf(await resolveYaml(text));
    expect(env.map(({ name }) => name.length < 128)).toEqual([true]);
    expect(volumes.map(({ name }) => name.length)).toEqual([expect.any(Number)]);
    expect(volumes[0]?.name.length).toBeLessThanOrEqual(63);
    expect(volumeMounts[0]?.mountPath).toBe(`/etc/toolmgr/ca-bundles/${LONG}`);
  });
});

describe('hostile values', () => {
  it('stay values of one field in the YAML of the file', async () => {
    const evil = 'x\\nincomingAuth:\\n  type: anonymous\\n# ';
    const auth = '{ type: oidc, oidcConfigRef: { name: company, audience: tools } }';
    const company = object(
      'MCPOIDCConfig',
      'company',
      'spec: { type: inline, inline: { issuer: "https://idp.example.com" } }',
    );
    const config = `config: { name: "${evil}", metadata: { "${evil}": "${evil}", "<<": "*a" } }`;
    const { configYaml } = podOf(await resolveYaml(server(config, auth) + company));
    expect(parse(configYaml)).toMatchObject({
      name: 'x\nincomingAuth:\n  type: anonymous\n# ',
      incomingAuth: { type: 'oidc' },
      metadata: { '<<': '*a' },
    });
  });

  it('cannot replace what the operator writes into the file', async () => {
    const config =
      'config: { kubernetes: { backends: other-vmcp-backends, serviceAccount: /tmp }, authServerConfig: { issuer: "https://evil" }, groupRef: other }';
    const resolution = await resolveYaml(server(config));
    expect(podOf(resolution).config).toMatchObject({
      groupRef: 'group',
      kubernetes: { backends: 'tools-vmcp-backends', report: 'tools-vmcp-report' },
    });
    expect(podOf(resolution).configYaml).not.toMatch(/evil|other|tmp/);
  });

  it('of a secret in another namespace are never read', async () => {
    const auth = object(
      'MCPExternalAuthConfig',
      'steal',
      'spec: { type: bearerToken, bearerToken: { tokenSecretRef: { name: "../kube-system/token", key: k } } }',
    );
    const other = secret('token', { k: 'hunter2' }).replace(
      '{ name: token }',
      '{ name: token, namespace: kube-system }',
    );
    const text = server() + auth + other + entry('a', 'externalAuthConfigRef: { name: steal }');
    const resolution = await resolveYaml(text);
    expect(podOf(resolution).secretNames).toEqual([]);
    expect(resolution.effective).toMatchObject([{ problem: expect.stringContaining('there is no secret') }]);
    const withNamespace = await resolveYaml(
      text.replace('name: "../kube-system/token"', 'name: token, namespace: kube-system'),
    );
    expect(podOf(withNamespace).secretNames).toEqual([]);
  });

  it.each([100, 3_000])('nested %i deep are a condition, and no fault of recursive code', async (depth) => {
    let config: unknown = 'x';
    for (let level = 0; level < depth; level++) config = { a: config };
    const spec = { groupRef: { name: 'group' }, incomingAuth: { type: 'anonymous' }, config };
    const hostile = own('VirtualMCPServer', 'team', 'tools', spec) as VirtualMcpServer;
    const { outcome, conditions: told } = await resolveServer(hostile, fileObjects([], { namespace: 'team' }));
    expect(outcome).toMatchObject({ result: 'failed', message: 'spec: nested more than 64 deep' });
    expect(told.map(({ type, reason }) => `${type}/${reason}`)).toEqual(['Valid/ValidationFailed']);
  });

  it.each(['inline', 'configMap'])(
    'with policies that take seconds to check are a condition, unchecked: %s',
    async (type) => {
      const policies = Array.from(
        { length: 900 },
        (_, at) => `permit(principal, action, resource) when { context.a == "${at} ${'y'.repeat(300)}" };`,
      );
      const file = JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } });
      const from = type === 'inline' ? JSON.stringify({ policies }) : '{ name: policies, key: file }';
      const auth = `{ type: anonymous, authzConfig: { type: ${type}, ${type}: ${from} } }`;
      const maps = object('ConfigMap', 'policies', `data: { file: ${JSON.stringify(file)} }`);
      const resolution = await resolveYaml(server('', auth) + maps);
      const told = messageOf(resolution, type === 'inline' ? 'Valid' : 'AuthConfigured');
      expect(told).toMatch(/ \d{6} bytes, expected at most 262144$/);
      expect(resolution.outcome.result).toBe('failed');
    },
  );

  it('too large for a config map are a condition, in the file and in the list of backends', async () => {
    const big = 'x'.repeat(1_100_000);
    const file = await resolveYaml(server(`config: { metadata: { a: ${big} } }`));
    expect(conditions(file)).toContain('Valid=False/ConfigTooLarge');
    expect(file.pod).toBeUndefined();
    const members = Array.from({ length: 40 }, (_, index) =>
      entry(
        `a${index}`,
        `headerForward: { addPlaintextHeaders: { ${['a', 'b', 'c', 'd', 'e'].map((name) => `X-${name}: ${'y'.repeat(8000)}`).join(', ')} } }`,
      ),
    );
    const list = await resolveYaml(server() + members.join(''));
    expect(messageOf(list, 'Valid')).toContain('the list of backends has');
    expect(list.outcome.result).toBe('failed');
  });

  it.each([`a${'b'.repeat(58)}`, 'a.b', '1.2'])(
    'a server named %s is refused: its Service could not be made',
    async (name) => {
      const resolution = await resolveYaml(server().replace('name: tools', `name: ${JSON.stringify(name)}`));
      expect(messageOf(resolution, 'Valid')).toContain('metadata.name: expected a DNS label');
      expect(resolution.outcome.result).toBe('failed');
    },
  );

  it('of many members keep conditions and messages within the limits', async () => {
    const members = Array.from({ length: 300 }, (_, index) =>
      entry(`a${index}`, `externalAuthConfigRef: { name: gone-${'x'.repeat(200)} }`),
    );
    const resolution = await resolveYaml(server() + members.join(''));
    expect(resolution.conditions.length).toBeLessThan(250);
    for (const { message } of resolution.conditions) expect(message.length).toBeLessThanOrEqual(32_768);
    for (const { message } of resolution.events) expect(message.length).toBeLessThanOrEqual(1024);
    expect(resolution.effective).toHaveLength(300);
  });
});
