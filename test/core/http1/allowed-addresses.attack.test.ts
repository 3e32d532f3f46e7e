import type { LookupFunction } from 'node:net';
import { notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';
import { describe, expect, it } from 'vitest';
import type { AllowedAddresses } from '../../../core/contract/backend.ts';
import { guardedLookup, isForbidden } from '../../../core/http1/allowed-addresses.ts';
import { chooseClient, HTTP_CLIENTS } from '../../../core/http1/choose-client.ts';
import { httpBackend, httpServer, managerWith } from '../backend/support.ts';

/** Never allowed: this machine, its link, and what carries such an address. */
const LOCAL = [
  ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '169.254.169.254', '::1', '::', 'fe80::1', 'fe80::1%lo', 'fd00:ec2::254'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:0:169.254.169.254', '64:ff9b::7f00:1', '2002:a9fe:a9fe::1'],
];
/** Allowed to backends in the network. */
const PRIVATE = [
  ...['10.0.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '198.18.0.1', '192.0.2.1', '224.0.0.1', '240.0.0.1'],
  ...['fd00::1', 'fc00::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::', '64:ff9b:1::808:808', '2001:db8::1'],
  ...['ff02::1', '100::1', '2001:10::1', '4000::1'],
];
const PUBLIC = [
  ...['8.8.8.8', '172.32.0.1', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'],
  ...['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

describe('the addresses that a backend may lead to', () => {
  it.each(LOCAL)('%s is never allowed', (address) => {
    expect([isForbidden(address, 'public'), isForbidden(address, 'network')]).toEqual([true, true]);
  });

  it.each(PRIVATE)('%s is allowed in the network only', (address) => {
    expect([isForbidden(address, 'public'), isForbidden(address, 'network')]).toEqual([true, false]);
  });

  it.each(PUBLIC)('%s is allowed', (address) => {
    expect([isForbidden(address, 'public'), isForbidden(address, 'network')]).toEqual([false, false]);
  });

  it.each([...LOCAL, ...PRIVATE, ...PUBLIC])('%s is judged as by requests to user-supplied URLs', (address) => {
    expect(isForbidden(address, 'public')).toBe(notPublic(address) !== undefined);
  });

  it.each(['100.100.100.200', '168.63.129.16', '::ffff:168.63.129.16'])(
    '%s, a metadata service, is never allowed',
    (one) => {
      expect([isForbidden(one, 'public'), isForbidden(one, 'network')]).toEqual([true, true]);
    },
  );

  it('include every address of a name', async () => {
    const answers = [
      { address: '8.8.8.8', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ];
    const resolve = ((_name, _options, done) => done(null, answers)) as LookupFunction;
    const found = new Promise((done) => guardedLookup('network', resolve)('x.example', { all: true }, done));
    expect(await found).toMatchObject({
      code: 'ADDRESS_FORBIDDEN',
      message: expect.stringContaining('169.254.169.254'),
    });
  });
});

describe.each(HTTP_CLIENTS)('a backend with the HTTP client %s', (client) => {
  it.each<[string, AllowedAddresses]>([
    ['localhost', 'public'],
    ['localhost', 'network'],
    ['127.0.0.1', 'public'],
    ['127.0.0.1', 'network'],
  ])('that leads to this machine by %s gets no connection with addresses %s', async (host, addresses) => {
    const server = await httpServer((got) => void got.response.writeHead(404).end());
    const url = server.url.replace('127.0.0.1', host);
    const httpClient = await chooseClient(client);
    const { manager } = await managerWith([httpBackend(url, { addresses })], { httpClient });
    expect(manager.states()[0]?.cause).toMatchObject({
      category: 'refused',
      message: expect.stringMatching(/not allowed/),
    });
    expect(server.all).toEqual([]);
    const free = await managerWith([httpBackend(url)], { httpClient });
    expect(free.manager.states()[0]?.status).not.toBe('unknown');
    expect(server.all).not.toEqual([]);
  });
});
