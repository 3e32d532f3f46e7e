import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestPackage } from '@toolmgr/plugins/kit/workloads/schemes';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loopbackServer } from '../../support/loopback-server.ts';
import { startPackageRegistry } from '../../support/package-registry.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { signal } = new AbortController();

async function rig() {
  const folder = temporaryFolder('newest-package');
  const registry = await startPackageRegistry(folder);
  onTestFinished(() => registry[Symbol.asyncDispose]());
  const { url, files } = registry;
  const env = { HOME: folder, NPM_CONFIG_REGISTRY: url, UV_INDEX_URL: `${url}/simple`, GOPROXY: `${url},direct` };
  const newest = (target: string, more: object = {}) => newestPackage(target, { ...env, ...more }, signal);
  return { folder, registry, files, newest };
}

describe('the newest release of a package', () => {
  it('is that of the npm registry of the settings, or of the scope of the package', async () => {
    const { folder, registry, newest } = await rig();
    registry.publish('pack', '1.0.0', []);
    registry.publish('pack', '1.10.0', []);
    expect(await newest('npx://pack@1.9.0')).toEqual({ target: 'npx://pack@1.10.0' });
    expect(await newest('npx://absent@1.0.0')).toEqual({ problem: 'its registry does not have absent' });
    writeFileSync(join(folder, '.npmrc'), '@own:registry=http://127.0.0.1:9/\n//x/:_authToken=secret\n');
    expect(await newest('npx://@own/pack@1.0.0')).toEqual({ problem: expect.stringContaining('127.0.0.1:9') });
  });

  it('is the newest final release of a Python index that is not yanked', async () => {
    const { files, newest } = await rig();
    files.set('/simple/my-pack/', [
      ...['my_pack-1.9.tar.gz', 'my_pack-1.10-py3-none-any.whl', 'my_pack-2.0rc1-py3-none-any.whl'],
      ...['yanked my_pack-3.0-py3-none-any.whl', 'other-9.0.tar.gz'],
    ]);
    expect(await newest('uvx://My_Pack==1.9')).toEqual({ target: 'uvx://My_Pack==1.10' });
    expect(await newest('uvx://my-pack[x]@1.9')).toEqual({ target: 'uvx://my-pack[x]@1.10' });
    expect(await newest('uvx://none==1')).toEqual({ problem: 'its index does not have none' });
  });

  it('is the newest release of the Go module that has the package, and none is asked for a private one', async () => {
    const { registry, files, newest } = await rig();
    files.set('/example.com/!org/tool/@v/list', ['v1.2.0', 'v1.10.0', 'v2.0.0-rc.1']);
    expect(await newest('go://example.com/Org/tool/cmd/server@v1.2.0')).toEqual({
      target: 'go://example.com/Org/tool/cmd/server@v1.10.0',
    });
    const asked = registry.seen.length;
    const isPrivate = { problem: expect.stringContaining('GOPRIVATE') };
    expect(await newest('go://example.com/Org/tool@v1.2.0', { GOPRIVATE: 'a.b,*.com/Org' })).toEqual(isPrivate);
    expect(await newest('go://example.com/Org/tool@v1.2.0', { GOPROXY: 'off' })).toHaveProperty('problem');
    expect(registry.seen).toHaveLength(asked);
  });

  it('is not asked for without a fixed version or a package, and a registry cannot name another program', async () => {
    const { registry, newest } = await rig();
    for (const target of [
      'npx://pack',
      'npx://pack@^1',
      'uvx://pack',
      'uvx://pack>=1',
      'go://example.com/x',
      'go://./x',
    ])
      expect(await newest(target), target).toHaveProperty('problem');
    expect(registry.seen).toEqual([]);
    registry.publish('pack', 'x && y', []);
    expect(await newest('npx://pack@1.0.0')).toEqual({ problem: 'its registry names a version that is none' });
  });

  it('is found in a list with entries that are none, and a long name of a file takes no time', async () => {
    const crooked = [null, 1, {}, { filename: { toString: 1 } }, { filename: ['pack-9.tar.gz'] }];
    const files = [...crooked, { filename: 'pack-1.1.tar.gz' }, { filename: `pack${'-1'.repeat(500_000)}` }];
    await using server = await loopbackServer((_request, response) => response.end(JSON.stringify({ files })));
    const { newest } = await rig();
    expect(await newest('uvx://pack==1.0', { UV_INDEX_URL: server.url })).toEqual({ target: 'uvx://pack==1.1' });
  });

  it('is one version and no range, whatever the registry says', async () => {
    const { registry, newest } = await rig();
    for (const latest of ['1.1.0 || 9', '1.1.0 - 9.0.0', "$'1.1.0", '1.1.0 <', 'latest']) {
      registry.publish('pack', latest, []);
      const found = await newest('npx://pack@1.0.0');
      expect(found, latest).toEqual({ problem: 'its registry names a version that is none' });
    }
  });

  it('is asked for where the file says when a variable is set to nothing', async () => {
    const { folder, registry, files, newest } = await rig();
    registry.publish('pack', '1.1.0', []);
    files.set('/simple/pack/', ['pack-1.1.tar.gz']);
    writeFileSync(join(folder, '.npmrc'), `registry=${registry.url}\n`);
    writeFileSync(join(folder, 'pip.conf'), `[global]\nindex-url = ${registry.url}/simple\n`);
    expect(await newest('npx://pack@1.0.0', { NPM_CONFIG_REGISTRY: '' })).toEqual({ target: 'npx://pack@1.1.0' });
    const python = { UV_INDEX_URL: '', UV_DEFAULT_INDEX: '', PIP_CONFIG_FILE: join(folder, 'pip.conf') };
    expect(await newest('uvx://pack==1.0', python)).toEqual({ target: 'uvx://pack==1.1' });
  });

  it('is asked for with the login in the address, which no message shows', async () => {
    const logins: (string | undefined)[] = [];
    await using server = await loopbackServer(({ headers }, response) => {
      logins.push(headers.authorization);
      response.writeHead(500).end();
    });
    const { newest } = await rig();
    for (const login of ['me:s%40cret', 'me:100%zz']) {
      const found = await newest('npx://pack@1.0.0', { NPM_CONFIG_REGISTRY: server.url.replace('//', `//${login}@`) });
      expect(found).toEqual({ problem: expect.stringContaining('status 500') });
      expect(JSON.stringify(found)).not.toMatch(/cret|100/);
    }
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    expect(logins).toEqual([basic('me:s@cret'), basic('me:100%zz')]);
  });

  it('ends with its signal', async () => {
    const { newest } = await rig();
    await expect(newestPackage('npx://pack@1.0.0', {}, AbortSignal.abort())).rejects.toThrow();
    expect(await newest('npx://pack@1.0.0', { NPM_CONFIG_REGISTRY: 'not a url' })).toHaveProperty('problem');
  });
});
