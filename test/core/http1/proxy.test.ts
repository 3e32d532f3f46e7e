import { proxyRouteFor } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { forwardProxy } from '../../support/forward-proxy.ts';
import { proves } from '../../support/proves.ts';
import { CLIENTS, clientsOf, plainAnswer, post, scriptedServer } from './scripted-server.ts';

const routeOf = (url: string, env: Record<string, string>) => proxyRouteFor(new URL(url), env)?.label;

describe('the proxy of an environment', () => {
  proves('choice.network.no-proxy', 'holds by scheme, and not for what NO_PROXY names or for this machine', () => {
    const env = { HTTPS_PROXY: 'http://secure:1', http_proxy: 'plain:2' };
    expect(routeOf('https://a.example/', env)).toBe('secure:1');
    expect(routeOf('http://a.example/', env)).toBe('plain:2');
    expect(routeOf('http://a.example/', { ALL_PROXY: 'http://all' })).toBe('all:80');
    expect(routeOf('http://a.example/', { HTTPS_PROXY: 'http://secure:1' })).toBeUndefined();
    for (const near of ['https://localhost/', 'https://x.localhost/', 'https://127.0.0.1/', 'https://[::1]/']) {
      expect(routeOf(near, env)).toBeUndefined();
    }
    const isDirect = (url: string, NO_PROXY: string) => routeOf(url, { ...env, NO_PROXY }) === undefined;
    expect(isDirect('https://api.example.com/', 'other, example.com')).toBe(true);
    expect(isDirect('https://api.example.com/', '.example.com')).toBe(true);
    expect(isDirect('https://notexample.com/', 'example.com')).toBe(false);
    expect(isDirect('https://a.example:8443/', 'a.example:8443')).toBe(true);
    expect(isDirect('https://a.example/', 'a.example:8443')).toBe(false);
    expect(isDirect('https://10.2.3.4/', '10.0.0.0/8')).toBe(true);
    expect(isDirect('https://11.2.3.4/', '10.0.0.0/8,rubbish/99')).toBe(false);
    expect(isDirect('https://[fd00::1]/', 'fd00::/8')).toBe(true);
    expect(isDirect('https://a.example/', '*')).toBe(true);
  });

  it('is refused by the name of its variable when it is no http proxy', () => {
    const wrong = () => routeOf('https://a.example/', { HTTPS_PROXY: 'socks5://user:hidden@proxy:1' });
    expect(wrong).toThrow(/^HTTPS_PROXY is not the http or https URL of a proxy$/);
  });
});

describe.each(Object.entries(CLIENTS))('connections of the client %s through a proxy', (_name, create) => {
  const poolThrough = (url: URL, ca: string | undefined, env: Record<string, string>, connectTimeoutMs = 5_000) =>
    clientsOf(create)({ url, ca, proxy: proxyRouteFor(url, env) }, { connectTimeoutMs });

  proves(
    ['choice.network.proxy-backends', 'choice.network.proxy-secret'],
    'reach https by CONNECT, with credentials that only the proxy gets, and are used again',
    async () => {
      const server = await scriptedServer(
        ({ socket }, number) => void socket.write(plainAnswer(`answer ${number}`)),
        true,
      );
      const proxy = await forwardProxy('ada:p@ss');
      const url = new URL(`https://far.test:${server.url.port}/mcp`);
      const pool = poolThrough(url, server.ca, { HTTPS_PROXY: `http://ada:p%40ss@127.0.0.1:${proxy.port}` });
      const large = 'x'.repeat(500_000);
      for (const [n, body] of [
        [1, 'small'],
        [2, large],
      ] as const)
        expect((await post(pool, body)).body).toBe(`answer ${n}`);
      expect(proxy.asked).toEqual([`CONNECT far.test:${server.url.port}`]);
      expect(server.heard.map(({ text }) => text).join()).not.toMatch(/proxy-authorization/i);
      expect(server.heard[1]?.text).toContain(large);
    },
  );

  proves('choice.network.proxy-backends', 'send requests to plain http to the proxy as whole URLs', async () => {
    const server = await scriptedServer(({ socket }) => void socket.write(plainAnswer('plain')));
    const proxy = await forwardProxy('ada:secret');
    const url = new URL(`http://far.test:${server.url.port}/mcp`);
    const pool = poolThrough(url, undefined, { HTTP_PROXY: `http://ada:secret@127.0.0.1:${proxy.port}` });
    expect((await post(pool)).body).toBe('plain');
    expect(proxy.asked).toEqual([`POST http://far.test:${server.url.port}/mcp`]);
    expect(server.heard[0]?.text).not.toMatch(/proxy-authorization/i);
  });

  proves('choice.network.proxy-secret', 'say why a proxy lets nothing through, without its password', async () => {
    const proxy = await forwardProxy('ada:right');
    const pool = poolThrough(new URL('https://far.test/mcp'), undefined, {
      HTTPS_PROXY: `http://ada:hidden@127.0.0.1:${proxy.port}`,
    });
    const { error } = await post(pool);
    expect(error).toMatchObject({ code: 'PROXY_REFUSED' });
    expect(error?.message).toBe(`the proxy 127.0.0.1:${proxy.port} responded to CONNECT with 407`);
  });

  it('fail when the proxy cannot be reached, and when it never answers', async () => {
    const away = poolThrough(new URL('https://far.test/mcp'), undefined, { HTTPS_PROXY: 'http://127.0.0.1:1' });
    expect((await post(away)).error?.message).toBe('the proxy 127.0.0.1:1 cannot be reached (ECONNREFUSED)');
    const silent = await scriptedServer(() => {});
    const env = { HTTPS_PROXY: `http://127.0.0.1:${silent.url.port}` };
    const { error } = await post(poolThrough(new URL('https://far.test/mcp'), undefined, env, 200));
    expect(error).toBeInstanceOf(Error);
  });
});
