import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createApi, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { afterAll, describe, expect, test } from 'vitest';
import { kubeconfigConnection } from '../../../../hosts/operator/connection/kubeconfig.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';

const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isClusterScoped: true };
const folder = mkdtempSync(join(tmpdir(), 'toolmgr-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
