import { createRemoteHttp, type RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { isPrivateHost } from '@toolmgr/plugins/kit/safe-http/addresses';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findServer } from '../../../../plugins/outgoing-auth/oauth-client/login/find-server.ts';
import { createOauthHttp, steadyLookup } from '../../../../plugins/outgoing-auth/oauth-client/oauth-http.ts';
import { type LoopbackServer, loopbackServer } from '../../../support/loopback-server.ts';

const METADATA_SERVICE = 'http://169.254.169.254/latest/meta-data';
const NO_SETTINGS = { isRequired: false };

/** Loopback addresses stand for the internet; all other special addresses are forbidden. */
function guarded(): RemoteHttp {
  const http = createRemoteHttp({ allowLoopback: true, allowHttp: 'loopback', followsWithinOrigin: true });
  onTestFinished(() => http.close());
  return http;
}

async function serving(answer: Parameters<typeof loopbackServer>[0]): Promise<LoopbackServer> {
  const server = await loopbackServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const challenged = (resource_metadata: string) => ({
  isRefused: true,
  challenges: [{ scheme: 'bearer', parameters: { resource_metadata } }],
});

const find = (http: RemoteHttp, url: string, probed = { isRefused: true, challenges: [] as never[] }) =>
  findServer(http, url, NO_SETTINGS, probed, AbortSignal.timeout(10_000)).catch((cause: Error) => ({
    problem: cause.message,
  }));

describe('a hostile remote server', () => {
  it('cannot send the discovery to a private address by its challenge', async () => {
    for (const address of [METADATA_SERVICE, 'https://10.0.0.1/x', 'https://[fd00::1]/x', 'https://192.168.0.1/']) {
      const found = await findServer(
        guarded(),
        'http://127.0.0.1:1/mcp',
        NO_SETTINGS,
        challenged(address),
        AbortSignal.timeout(10_000),
      );
      expect(found).toMatchObject({ problem: expect.stringMatching(/not allowed/) });
    }
  });

  it('cannot do so by its metadata, nor by the metadata of its authorization server', async () => {
    const remote = await serving((request, response) => {
      const about = { resource: `${remote.url}/mcp`, authorization_servers: ['https://169.254.169.254'] };
      if (request.url?.startsWith('/.well-known/oauth-protected-resource')) response.end(JSON.stringify(about));
      else response.writeHead(404).end();
    });
    expect(await find(guarded(), `${remote.url}/mcp`)).toMatchObject({ problem: expect.stringMatching(/not allowed/) });
  });

  it('cannot do so by a redirect, and not to another origin either', async () => {
    const other = await serving((_request, response) => response.end('{}'));
    for (const location of [METADATA_SERVICE, `${other.url}/metadata`, '//169.254.169.254/x']) {
      const remote = await serving((_request, response) => response.writeHead(302, { location }).end());
      const found = await findServer(
        guarded(),
        `${remote.url}/mcp`,
        NO_SETTINGS,
        challenged(`${remote.url}/metadata`),
        AbortSignal.timeout(10_000),
      );
      expect(found).toMatchObject({ problem: expect.stringMatching(/answered with a redirect/) });
    }
    expect(other.seen).toEqual([]);
  });

  it('cannot keep the discovery busy by redirects, large or endless documents', async () => {
    const circle = await serving((_request, response) => response.writeHead(302, { location: '/again' }).end());
    const huge = await serving((_request, response) => response.end(`{"resource":"${'x'.repeat(300_000)}"}`));
    const http = await createOauthHttp(['http://127.0.0.1/mcp']);
    onTestFinished(() => http.close());
    for (const { url } of [circle, huge]) {
      const found = await findServer(
        http,
        `${url}/mcp`,
        NO_SETTINGS,
        challenged(`${url}/x`),
        AbortSignal.timeout(10_000),
      );
      expect(found).toMatchObject({ problem: expect.stringMatching(/redirect|more than 262144 bytes/) });
    }
    expect(circle.seen.length).toBeLessThan(6);
  });

  it('is read over a redirect within its origin', async () => {
    const remote = await serving((request, response) => {
      if (request.url === '/old') return response.writeHead(301, { location: '/new' }).end();
      return response.end(JSON.stringify({ resource: `${remote.url}/mcp`, authorization_servers: [] }));
    });
    const found = await findServer(
      guarded(),
      `${remote.url}/mcp`,
      NO_SETTINGS,
      challenged(`${remote.url}/old`),
      AbortSignal.timeout(10_000),
    );
    expect(found).toMatchObject({ problem: expect.stringMatching(/names no authorization server/) });
  });
});

describe('the HTTP client of a login', () => {
  it('reaches private addresses only for a remote server that has one', async () => {
    const local = await serving((_request, response) => response.end('{}'));
    const outside = await createOauthHttp(['https://93.184.216.34/mcp', undefined]);
    const inside = await createOauthHttp(['http://127.0.0.1:1/mcp']);
    onTestFinished(async () => void (await Promise.all([outside.close(), inside.close()])));
    await expect(outside.send(local.url)).rejects.toThrow(/leads to a loopback address, which is not allowed/);
    expect((await inside.send(local.url)).status).toBe(200);
    expect(local.seen).toHaveLength(1);
  });

  it('uses plain http on this machine only', async () => {
    const http = await createOauthHttp(['http://127.0.0.1:1/mcp']);
    onTestFinished(() => http.close());
    await expect(http.send('http://id.example/token')).rejects.toThrow(/plain http is not allowed/);
    await expect(http.send('http://10.0.0.1/token')).rejects.toThrow(/plain http is not allowed/);
  });

  it('refuses a private server whose name leads to the internet one moment later', async () => {
    const answers = [['10.0.0.7'], ['10.0.0.7', '93.184.216.34'], ['93.184.216.34']];
    const look = steadyLookup(new Set(['mcp.example']), (_, __, callback) => {
      callback(
        null,
        (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
      );
    });
    const outcome = (host: string) =>
      new Promise((resolve) => look(host, { all: true }, (error, found) => resolve(error?.message ?? found)));
    expect(await outcome('mcp.example')).toEqual([{ address: '10.0.0.7', family: 4 }]);
    expect(await outcome('mcp.example')).toMatch(/mcp.example had a private address before/);
    expect(await outcome('other.example')).toEqual([{ address: '93.184.216.34', family: 4 }]);
  });

  it('knows private hosts by their addresses', async () => {
    for (const url of ['http://127.0.0.1/x', 'https://[::1]:8443', 'https://10.1.2.3', 'http://localhost:1']) {
      expect(await isPrivateHost(url), url).toBe(true);
    }
    for (const url of ['https://93.184.216.34', 'https://[2606:4700::1111]', 'https://unknown.invalid', 'nonsense']) {
      expect(await isPrivateHost(url), url).toBe(false);
    }
  });
});
