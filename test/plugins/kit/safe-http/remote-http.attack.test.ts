import type { LookupFunction } from 'node:net';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';
import { describe, expect, it } from 'vitest';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { proves } from '../../../support/proves.ts';

describe('addresses that are not public', () => {
  const NOT_PUBLIC = {
    'a loopback address': ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'],
    'a private address': [
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      'fc00::1',
      'fd12:3456::1',
      '::ffff:10.0.0.1',
      '::ffff:0:10.0.0.1',
      '2002:0a00:0001::1',
      '2002:c0a8:0101::',
      '64:ff9b::a00:1',
    ],
    'a link-local address': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', '::ffff:a9fe:a9fe', '2002:a9fe:a9fe::'],
    'an unspecified address': ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
    'a multicast address': ['224.0.0.1', '239.255.255.255', 'ff02::1'],
    'a broadcast address': ['255.255.255.255'],
    'a reserved address': [
      '192.0.0.8',
      '192.0.2.1',
      '198.18.0.1',
      '198.51.100.7',
      '203.0.113.9',
      '240.0.0.1',
      '::7f00:1', // IPv4-compatible, deprecated
      '64:ff9b:1::7f00:1',
      '100::1',
      '2001::1', // Teredo
      '2001:db8::1',
      '3fff::1',
      '5f00::1',
      'fec0::1',
      '4000::1',
    ],
    'no address': ['', 'localhost', '1.2.3.4.5', '::ffff:127.0.0.1.5'],
  } as const;

  for (const [word, addresses] of Object.entries(NOT_PUBLIC)) {
    proves('choice.remote.addresses', `are recognised in every form: ${word}`, () => {
      expect(addresses.map((address) => `${address}: ${notPublic(address)}`)).toEqual(
        addresses.map((address) => `${address}: ${word}`),
      );
    });
  }

  it('do not include public ones', () => {
    const open = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'];
    expect(open.map(notPublicOf)).toEqual(open.map(() => undefined));
  });
});

describe('a URL of a private network', () => {
  proves('choice.remote.addresses', 'is refused as a literal address in any notation', async () => {
    await using server = await loopbackServer((_request, response) => response.end('{}'));
    const http = createRemoteHttp({ allowHttp: true });
    const hosts = [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
    ];
    for (const host of hosts) {
      await expect(http.send(`http://${host}:${server.port}/`)).rejects.toMatchObject({ code: 'REMOTE_REFUSED' });
    }
    expect(server.seen).toEqual([]);
    await http.close();
  });

  proves('choice.remote.addresses', 'is refused by the address of its name', async () => {
    await using server = await loopbackServer((_request, response) => response.end('{}'));
    const http = createRemoteHttp({ allowHttp: true });
    for (const host of ['localhost', 'LOCALHOST']) {
      await expect(http.send(`http://${host}:${server.port}/`)).rejects.toMatchObject({
        code: 'REMOTE_REFUSED',
        message: expect.stringContaining('leads to a loopback address, which is not allowed (by its name)'),
      });
    }
    expect(server.seen).toEqual([]);
    await http.close();
  });

  proves('choice.remote.rebinding', 'is refused when its name resolves to another address later', async () => {
    await using server = await loopbackServer((_request, response) => response.end('{}'));
    // one private address among public ones is enough
    const answers = [
      [
        { address: '93.184.215.14', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      [{ address: '127.0.0.1', family: 4 }],
    ];
    const rebinding = ((_host, _options, callback) => {
      callback(null, answers.shift() ?? []);
    }) as LookupFunction;
    const http = createRemoteHttp({ allowHttp: true, lookup: rebinding });
    for (const _ of [1, 2]) {
      await expect(http.send(`http://rebind.example:${server.port}/`)).rejects.toMatchObject({
        code: 'REMOTE_REFUSED',
      });
    }
    expect([server.seen, answers]).toEqual([[], []]);
    await http.close();
  });

  proves('choice.remote.redirects', 'is not reached by any redirect', async () => {
    await using inside = await loopbackServer((_request, response) => response.end('{"keys":[]}'));
    await using outside = await loopbackServer((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { location: inside.url }).end();
    });
    const http = createRemoteHttp({ allowHttp: true, allowPrivateAddresses: true });
    for (const status of [301, 302, 303, 307, 308]) {
      await expect(http.getJson(`${outside.url}/${status}`)).rejects.toMatchObject({
        code: 'REMOTE_REFUSED',
        message: `${outside.url}/${status}: answered with a redirect (status ${status}), which is not followed`,
      });
    }
    expect([outside.seen.length, inside.seen]).toEqual([5, []]);
    await http.close();
  });
});

describe('a malicious server', () => {
  proves('choice.remote.bounds', 'cannot fill the memory, with or without Content-Length', async () => {
    await using server = await loopbackServer((request, response) => {
      if (request.url === '/says') response.writeHead(200, { 'content-length': 1e9 });
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const http = createRemoteHttp({ allowHttp: true, allowPrivateAddresses: true, maxBytes: 100_000 });
    for (const path of ['/says', '/silent']) {
      await expect(http.send(`${server.url}${path}`)).rejects.toMatchObject({
        code: 'REMOTE_UNAVAILABLE',
        message: `${server.url}${path}: answered more than 100000 bytes`,
      });
    }
    await http.close();
  });

  proves('choice.remote.bounds', 'cannot block a request with a slow or missing body', async () => {
    const drips = new Set<NodeJS.Timeout>();
    await using server = await loopbackServer((request, response) => {
      if (request.url === '/silent') return;
      drips.add(setInterval(() => response.write(' '), 10));
    });
    const http = createRemoteHttp({ allowHttp: true, allowPrivateAddresses: true, timeoutMs: 300 });
    for (const path of ['/silent', '/drops']) {
      await expect(http.send(`${server.url}${path}`)).rejects.toMatchObject({
        code: 'REMOTE_UNAVAILABLE',
        message: expect.stringMatching(/within 300 ms|timeout/i),
      });
    }
    for (const drip of drips) clearInterval(drip);
    await http.close();
  });

  it('cannot send endless headers', async () => {
    await using server = await loopbackServer((_request, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end('{}');
    });
    const http = createRemoteHttp({ allowHttp: true, allowPrivateAddresses: true });
    await expect(http.send(server.url)).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    await http.close();
  });
});

function notPublicOf(address: string): string | undefined {
  return notPublic(address);
}
