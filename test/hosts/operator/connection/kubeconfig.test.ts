import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createApi, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, test } from 'vitest';
import { kubeconfigConnection } from '../../../../hosts/operator/connection/kubeconfig.ts';
import { certificates } from '../../../support/certificates.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isClusterScoped: true };
const folder = temporaryFolderOfFile('kubeconfig');

/** Writes a kubeconfig with one context. */
function kubeconfig(name: string, cluster: object, user: object, more: object = {}): string {
  const file = join(folder, name);
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'team' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
    users: [{ name: 'u', user }],
    ...more,
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

describe('a kubeconfig', () => {
  test('is found by the flag, by the variable, and in the home folder', async () => {
    const file = kubeconfig('config', {}, { token: 'abc' });
    expect(await kubeconfigConnection(file, {})).toMatchObject({ server: 'https://127.0.0.1:1', namespace: 'team' });
    const users = kubeconfig('users', {}, {}, { contexts: [], clusters: [], users: [] });
    const both = await kubeconfigConnection(undefined, { KUBECONFIG: [file, users].join(delimiter) });
    expect(await both.credentials()).toEqual({ authorization: 'Bearer abc', tls: {} });
    const missing = join(folder, '.kube', 'config');
    await expect(kubeconfigConnection(undefined, { HOME: folder })).rejects.toThrow(`${missing} does not exist`);
    await expect(kubeconfigConnection(undefined, { KUBECONFIG: '/absent' })).rejects.toThrow('/absent does not exist');
  });

  test('gives the credentials of a user, and nothing of it is dropped', async () => {
    const credentials = async (user: object, cluster: object = {}) =>
      (await kubeconfigConnection(kubeconfig('user', cluster, user), {})).credentials();
    const data = (text: string) => Buffer.from(text).toString('base64');
    const certificate = { 'client-certificate-data': data('CERT'), 'client-key-data': data('KEY') };
    const tls = { 'certificate-authority-data': data('CA'), 'tls-server-name': 'name' };
    expect(await credentials(certificate, tls)).toEqual({
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY', servername: 'name' },
    });
    expect(await credentials({ username: 'a', password: 'b' }, { 'insecure-skip-tls-verify': true })).toEqual({
      authorization: `Basic ${data('a:b')}`,
      tls: { rejectUnauthorized: false },
    });
    expect(await credentials({ token: 't', as: 'other' })).toMatchObject({ headers: { 'Impersonate-User': 'other' } });
  });

  test('has paths from its own folder, secrets of digits, and names that its first file defines', async () => {
    writeFileSync(join(folder, 'ca.pem'), 'CA');
    writeFileSync(join(folder, 'token.txt'), 'from-file\n');
    const byFile = kubeconfig('paths', { 'certificate-authority': 'ca.pem' }, { tokenFile: 'token.txt' });
    const fromFile = { authorization: 'Bearer from-file', tls: { ca: 'CA' } };
    expect(await (await kubeconfigConnection(byFile, {})).credentials()).toEqual(fromFile);
    const digits = kubeconfig('digits', {}, { username: 'a', password: 123 });
    const both = await kubeconfigConnection(undefined, { KUBECONFIG: [byFile, digits].join(delimiter) });
    expect(await both.credentials()).toEqual(fromFile);
    const basic = `Basic ${Buffer.from('a:123').toString('base64')}`;
    expect(await (await kubeconfigConnection(digits, {})).credentials()).toMatchObject({ authorization: basic });
  });

  test('runs a credential plugin from its folder until the credentials expire', async () => {
    const seen = join(folder, 'runs');
    const plugin = (until: string) => {
      const status = { clientCertificateData: 'CERT', clientKeyData: 'KEY', expirationTimestamp: until };
      const script = `#!/bin/sh\necho "$1 $GIVEN" >> '${seen}'\nprintf '%s' '${JSON.stringify({ status })}'\n`;
      writeFileSync(join(folder, 'renew.sh'), script, { mode: 0o700 });
    };
    plugin('2999-01-01T00:00:00Z');
    const exec = { command: './renew.sh', args: ['login'], env: [{ name: 'GIVEN', value: 'yes' }] };
    const connection = await kubeconfigConnection(kubeconfig('plugin', {}, { exec }), {});
    expect(await connection.credentials()).toEqual({ tls: { cert: 'CERT', key: 'KEY' } });
    expect(readFileSync(seen, 'utf8')).toBe('login yes\n');
    await connection.credentials(true);
    expect(readFileSync(seen, 'utf8')).toBe('login yes\nlogin yes\n');
  });

  test('sends the ID token of an OpenID provider, and asks for a new one when it has expired', async () => {
    const tokenUntil = (seconds: number) =>
      ['{}', JSON.stringify({ exp: seconds }), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
    const { ca, cert, key } = certificates();
    const renewed = tokenUntil(4_000_000_000);
    const forms: string[] = [];
    const provider = createServer({ cert, key }, async (request, response) => {
      forms.push((await text(request)) || String(request.url));
      response.setHeader('content-type', 'application/json');
      const { port } = provider.address() as AddressInfo;
      response.end(JSON.stringify({ token_endpoint: `https://localhost:${port}/token`, id_token: renewed }));
    });
    await once(provider.listen(0, '127.0.0.1'), 'listening');
    try {
      const config = {
        ...{ 'client-id': 'c', 'client-secret': 's', 'refresh-token': 'r', 'id-token': tokenUntil(1) },
        'idp-issuer-url': `https://localhost:${(provider.address() as AddressInfo).port}`,
        'idp-certificate-authority-data': Buffer.from(ca).toString('base64'),
      };
      const authorization = async (more: object) => {
        const user = { 'auth-provider': { name: 'oidc', config: { ...config, ...more } } };
        return (await (await kubeconfigConnection(kubeconfig('oidc', {}, user), {})).credentials()).authorization;
      };
      expect(await authorization({})).toBe(`Bearer ${renewed}`);
      expect(forms).toEqual([
        '/.well-known/openid-configuration',
        'grant_type=refresh_token&refresh_token=r&client_id=c&client_secret=s',
      ]);
      expect(await authorization({ 'id-token': renewed, 'refresh-token': '' })).toBe(`Bearer ${renewed}`);
      expect(await authorization({ 'refresh-token': '' })).toBeUndefined();
    } finally {
      provider.close();
    }
    const other = kubeconfig('gcp', {}, { 'auth-provider': { name: 'gcp' } });
    await expect(kubeconfigConnection(other, {})).rejects.toThrow("the auth-provider 'gcp' is not supported");
  });

  test('of a server without TLS gives credentials only where it says so', async () => {
    const plain = (cluster: object) =>
      kubeconfigConnection(kubeconfig('http', { server: 'http://k', ...cluster }, {}), {});
    await expect(plain({})).rejects.toThrow('plain http is not allowed without insecure-skip-tls-verify');
    expect(await plain({ 'insecure-skip-tls-verify': true })).toMatchObject({ server: 'http://k' });
  });

  test.each([
    ['not a file', 'kubeconfig: [', 'is not a kubeconfig'],
    ['without a context', JSON.stringify({ clusters: [], users: [], contexts: [] }), 'there is no current context'],
    [
      'with an unknown context',
      JSON.stringify({ clusters: [], users: [], contexts: [], 'current-context': 'x' }),
      "the current context 'x' has no cluster",
    ],
  ])('%s is refused with the reason', async (_, text, message) => {
    const file = join(folder, 'bad');
    writeFileSync(file, text);
    await expect(kubeconfigConnection(file, {})).rejects.toThrow(message);
  });

  test('with a proxy or without a URL is refused', async () => {
    const refused = (cluster: object) => kubeconfigConnection(kubeconfig('refused', cluster, {}), {});
    await expect(refused({ 'proxy-url': 'http://proxy:1' })).rejects.toThrow(
      "proxy-url of cluster 'k' is not supported",
    );
    await expect(refused({ server: 'somewhere' })).rejects.toThrow("expected a URL, but got 'somewhere'");
  });
});

describe.skipIf(kubeSkipped)(`a cluster by its kubeconfig${kubeSkipped}`, () => {
  const suite = kubeSuite();

  test('answers, and a credential plugin is run again when its token is refused', async () => {
    const { cluster } = suite;
    await using byToken = createApi(await kubeconfigConnection(cluster.kubeconfig, {}));
    expect((await byToken.list(namespaces)).items.length).toBeGreaterThan(0);
    const tokenFile = join(folder, 'token');
    const plugin = join(folder, 'plugin.sh');
    const answer = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: '%s' } };
    writeFileSync(plugin, `#!/bin/sh\nprintf '${JSON.stringify(answer)}' "$(cat ${tokenFile})"\n`);
    chmodSync(plugin, 0o700);
    const exec = { apiVersion: answer.apiVersion, command: plugin, interactiveMode: 'Never' };
    const ca = { 'certificate-authority-data': readFileSync(cluster.caFile).toString('base64') };
    const file = kubeconfig('exec', { server: cluster.server, ...ca }, { exec });
    writeFileSync(tokenFile, 'expired');
    const connection = await kubeconfigConnection(file, {});
    writeFileSync(tokenFile, cluster.token);
    await using byPlugin = createApi(connection);
    expect((await byPlugin.list(namespaces)).items.length).toBeGreaterThan(0);
    writeFileSync(plugin, '#!/bin/sh\nexit 3\n');
    await expect(kubeconfigConnection(file, {})).rejects.toThrow(`${file}: no credentials: `);
  });
});
