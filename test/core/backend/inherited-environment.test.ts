import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  inheritedEnvironment,
  passwordsIn,
  programEnvironment,
} from '../../../core/backend/transports/inherited-environment.ts';
import { forwardProxy } from '../../support/forward-proxy.ts';
import { proves } from '../../support/proves.ts';
import { httpBackend, httpServer, legacyAnswers, managerWith } from './support.ts';

const given = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'x']));

describe('what a program inherits', () => {
  proves(
    'choice.network.inherited',
    'is what it needs to start, to reach the network and to install its package',
    () => {
      const passed = given(
        ...['PATH', 'HOME', 'HTTP_PROXY', 'https_proxy', 'NO_PROXY', 'SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'],
        ...['npm_config_registry', 'NPM_CONFIG_CAFILE', 'UV_INDEX_URL', 'UV_CACHE_DIR', 'PIP_CERT', 'PIP_INDEX_URL'],
      );
      const withheld = given(
        ...['AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'NODE_OPTIONS', 'TOOLMGR_STATE_KEY', 'UV_PUBLISH_TOKEN'],
        ...['npm_config__authToken', 'npm_config_//registry.npmjs.org/:_authToken', 'UV_INDEX_COMPANY_PASSWORD'],
        ...['npm_config_prefix', 'npm_config_local_prefix', 'PIPELINE', 'npm_package_name'],
      );
      expect(inheritedEnvironment({ ...passed, ...withheld, TERM: '() { :; }' })).toEqual(passed);
    },
  );

  proves('choice.network.runner-speaks', 'leaves out the silent log level of npm, and no other npm setting', () => {
    const silent = { npm_config_loglevel: 'silent', NPM_CONFIG_LOGLEVEL: 'silent' };
    expect(inheritedEnvironment({ ...silent, PATH: 'x' })).toEqual({ PATH: 'x' });
    expect(inheritedEnvironment({ npm_config_loglevel: 'verbose' })).toEqual({ npm_config_loglevel: 'verbose' });
  });

  proves('choice.network.proxy-secret', 'has the password of a proxy masked', () => {
    const env = { HTTPS_PROXY: 'http://ada:p%40ssword@proxy:1', PATH: '/a@b', HTTP_PROXY: 'http://proxy:1' };
    expect(passwordsIn(env)).toEqual(['p%40ssword', 'p@ssword']);
  });

  it('gets what it is given over what it inherits, and no more of the gateway', () => {
    const own = { PATH: '/bin', LANG: 'C', EMBEDDING_API_KEY: 'secret' };
    expect(programEnvironment(own, { LANG: 'de', KEY: 'v' })).toEqual({ PATH: '/bin', LANG: 'de', KEY: 'v' });
    expect(programEnvironment(own)).toEqual({ PATH: '/bin', LANG: 'C' });
  });
});

afterEach(() => vi.unstubAllEnvs());

describe('a remote backend', () => {
  proves('choice.network.proxy-backends', 'is found and called through the proxy of the environment', async () => {
    const server = await httpServer(legacyAnswers({ tools: [{ name: 'old', inputSchema: { type: 'object' } }] }));
    const proxy = await forwardProxy('ada:hidden');
    const { port } = new URL(server.url);
    vi.stubEnv('HTTP_PROXY', `http://ada:hidden@127.0.0.1:${proxy.port}`);
    const { manager, lines } = await managerWith([httpBackend(`http://far.test:${port}/mcp`)]);
    expect(
      manager
        .listings('')
        .get('far')
        ?.tools.map(({ key }) => key),
    ).toEqual(['old']);
    expect(proxy.asked).toContain(`POST http://far.test:${port}/mcp`);

    vi.stubEnv('HTTP_PROXY', `http://ada:wrong-secret@127.0.0.1:${proxy.port}`);
    const refused = await managerWith([httpBackend(`http://far.test:${port}/mcp`)]);
    expect(refused.manager.states()[0]).toMatchObject({ cause: { message: expect.stringContaining('HTTP 407') } });
    expect(JSON.stringify([...lines, ...refused.lines])).not.toMatch(/hidden|wrong-secret/);
  });
});
