import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { afterEach, describe, expect, onTestFinished, vi } from 'vitest';
import { plainAnswer, scriptedServer } from '../../../core/http1/scripted-server.ts';
import { forwardProxy } from '../../../support/forward-proxy.ts';
import { proves } from '../../../support/proves.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a configured service', () => {
  proves(
    ['choice.network.proxy-services', 'choice.network.proxy-secret'],
    'is requested through the proxy of the environment, with the configured CA and without logging the password',
    async () => {
      const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('{"issuer":"far"}')), true);
      const proxy = await forwardProxy('ada:hidden');
      vi.stubEnv('HTTPS_PROXY', `http://ada:hidden@127.0.0.1:${proxy.port}`);
      const http = createRemoteHttp({ ca: String(server.ca) });
      onTestFinished(() => http.close());
      const url = `https://far.test:${server.url.port}/.well-known/openid-configuration`;
      expect(await http.getJson(url)).toEqual({ issuer: 'far' });
      expect(proxy.asked).toEqual([`CONNECT far.test:${server.url.port}`]);

      vi.stubEnv('HTTPS_PROXY', `http://ada:other-secret@127.0.0.1:${proxy.port}`);
      const refused = createRemoteHttp({ ca: String(server.ca) });
      onTestFinished(() => refused.close());
      const fault = await refused.getJson(url).catch((cause: unknown) => cause);
      expect(fault).toMatchObject({ code: 'REMOTE_UNAVAILABLE', message: expect.not.stringContaining('other-secret') });
    },
  );

  proves('choice.network.no-proxy', 'in NO_PROXY is requested directly', async () => {
    const proxy = await forwardProxy();
    vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv('NO_PROXY', 'far.test');
    const http = createRemoteHttp({ timeoutMs: 2_000, lookup: (_, __, done) => done(new Error('asked directly'), '') });
    onTestFinished(() => http.close());
    await expect(http.getJson('https://far.test/')).rejects.toThrow('asked directly');
    expect(proxy.asked).toEqual([]);
  });
});
