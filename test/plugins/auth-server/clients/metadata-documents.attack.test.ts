import type { LookupFunction } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientRefusal } from '../../../../plugins/auth-server/clients/clients.ts';
import { isDocumentUrl } from '../../../../plugins/auth-server/clients/metadata-document.ts';
import { type LoopbackServer, loopbackServer } from '../../../support/loopback-server.ts';
import { proves } from '../../../support/proves.ts';
import { vsCodeDocument } from './client-requests.ts';
import { clientsOnMemory } from './registering.ts';

const CIMD = { enabled: true, cacheFallbackTtl: 300_000, cacheMaxSize: 8 };
const LOCAL = 'http://127.0.0.1:4483';
const CHUNK = Buffer.alloc(65_536, 0x20);
let sent = 0;
let web: LoopbackServer;

beforeAll(async () => {
  web = await loopbackServer((request, response) => {
    const id = `${web.url}${request.url}`;
    switch (request.url) {
      case '/redirect':
        return void response.writeHead(302, { location: '/good' }).end();
      case '/endless':
        return void setInterval(() => {
          if (!response.destroyed) sent += Number(response.write(CHUNK)) * CHUNK.length;
        }, 1).unref();
      case '/gigabyte':
        return void response.writeHead(200, { 'content-length': 1_000_000_000 }).write(CHUNK);
      case '/slow':
        return;
      case '/repeated':
        return void response.end(`{"client_id":"${id}",${JSON.stringify(vsCodeDocument(id)).slice(1)}`);
      case '/nested':
        return void response.end(`{"client_id":"${id}","x":${'['.repeat(4000)}${']'.repeat(4000)}}`);
      default:
        return void response.end(JSON.stringify(vsCodeDocument(id)));
    }
  });
});
afterAll(() => web[Symbol.asyncDispose]());

const resolvesTo =
  (...addresses: string[]): LookupFunction =>
  (_host, options, done) => {
    const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (options.all === true) done(null, all as never);
    else done(null, addresses[0] ?? '', 4);
  };

const UNFETCHABLE = new ClientRefusal('the document cannot be fetched', true);

describe('hostile client metadata documents', () => {
  it.each(['/redirect', '/endless', '/gigabyte'])('refuses %s', async (path) => {
    const { clients, lines } = clientsOnMemory({ cimd: CIMD, issuer: LOCAL });
    expect(await clients.find(`${web.url}${path}`, undefined)).toEqual(UNFETCHABLE);
    expect(lines).toMatchObject([{ level: 'warn', message: 'a client metadata document cannot be fetched' }]);
    expect(sent).toBeLessThan(50_000_000);
  });

  it('waits 5 s for a slow one', { timeout: 30_000 }, async () => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: LOCAL });
    const started = performance.now();
    expect(await clients.find(`${web.url}/slow`, undefined)).toEqual(UNFETCHABLE);
    expect(performance.now() - started).toBeGreaterThan(4_900);
  });

  it.each(['/repeated', '/nested'])('refuses %s', async (path) => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: LOCAL });
    expect(await clients.find(`${web.url}${path}`, undefined)).toBeInstanceOf(ClientRefusal);
  });

  it.each([
    ['loopback', '127.0.0.1'],
    ['a private network', '10.1.2.3'],
    ['cloud metadata', '169.254.169.254'],
    ['a unique local address', 'fd00::1'],
    ['a mapped loopback address', '::ffff:127.0.0.1'],
  ])('does not connect to a name of %s', async (_what, address) => {
    const { clients, lines } = clientsOnMemory({ cimd: CIMD, connect: { lookup: resolvesTo(address) } });
    expect(await clients.find(`https://client.example:${web.port}/good`, undefined)).toEqual(UNFETCHABLE);
    expect(lines[0]?.fields).toMatchObject({ code: 'REMOTE_REFUSED' });
  });

  proves(
    'choice.clients.document-address',
    'does not connect to a name that has a private address among others',
    async () => {
      const { clients, lines } = clientsOnMemory({
        cimd: CIMD,
        connect: { lookup: resolvesTo('203.0.113.1', '127.0.0.1') },
      });
      expect(await clients.find('https://client.example/good', undefined)).toEqual(UNFETCHABLE);
      expect(lines[0]?.fields).toMatchObject({ code: 'REMOTE_REFUSED' });
    },
  );

  it('does not use a second answer of the name server', async () => {
    let asked = 0;
    const lookup: LookupFunction = (host, options, done) =>
      resolvesTo(asked++ === 0 ? '10.0.0.1' : '203.0.113.1')(host, options, done);
    const { clients } = clientsOnMemory({ cimd: CIMD, connect: { lookup } });
    expect(await clients.find('https://client.example/good', undefined)).toEqual(UNFETCHABLE);
    expect(asked).toBe(1);
  });

  it('refuses loopback and private documents of a public issuer without a request', async () => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: 'https://gateway.example' });
    expect(await clients.find(`${web.url}/good`, undefined)).toBeUndefined();
    for (const host of ['10.0.0.1', '169.254.169.254', '[fd00::1]', '127.0.0.1']) {
      expect(await clients.find(`https://${host}/good`, undefined)).toEqual(UNFETCHABLE);
    }
  });

  it('limits the fetches of one network', async () => {
    const { clients } = clientsOnMemory({ cimd: CIMD, issuer: LOCAL });
    const found = await Promise.all(
      Array.from({ length: 10 }, (_, n) => clients.find(`${web.url}/d${n}`, '192.0.2.1')),
    );
    const busy = found.filter((each) => each instanceof ClientRefusal);
    expect(busy).toHaveLength(6);
    expect(busy[0]?.description).toContain('too many documents');
    expect(await clients.find(`${web.url}/d9`, '192.0.2.1')).toMatchObject({ client_name: 'Visual Studio Code' });
  });

  it.each([
    'http://client.example/doc',
    'https://client.example',
    'https://client.example/',
    'https://client.example/doc#x',
    'https://user@client.example/doc',
    'https://client.example/a/../doc',
    'https://client.example/a/%2e%2e/doc',
    'https://client.example/./doc',
    'https://client.example\\@evil.example/doc',
    'https://CLIENT.example/doc',
    'https://client.example:443/doc',
    'https://2130706433/doc',
    'https://client.example/d oc',
    'https:/client.example/doc',
    'HTTPS://client.example/doc',
    `https://client.example/${'a'.repeat(2048)}`,
  ])('takes %s for no document', (id) => {
    expect(isDocumentUrl(id, true)).toBe(false);
  });
});
