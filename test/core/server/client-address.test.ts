import type { RouteAnswer } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createClientAddress, isAddressOrNetwork } from '../../../core/server/http/client-address.ts';
import { openEndpoint, routesOf } from '../../support/open-endpoint.ts';

describe('the address of a client behind reverse proxies', () => {
  const addressOf = createClientAddress(['10.0.0.0/8', '2001:db8::/32', '127.0.0.1']);

  it('is the last one of X-Forwarded-For that is not a trusted proxy', () => {
    expect(addressOf('10.1.2.3', '198.51.100.7')).toBe('198.51.100.7');
    expect(addressOf('10.1.2.3', '198.51.100.7, 10.9.9.9')).toBe('198.51.100.7');
    expect(addressOf('::ffff:10.1.2.3', '203.0.113.9:4711')).toBe('203.0.113.9');
    expect(addressOf('2001:db8::1', '[2a00::5]:443')).toBe('2a00::5');
    expect(addressOf('10.1.2.3', '10.4.4.4, 10.5.5.5')).toBe('10.4.4.4');
  });

  it('is that of the connection when it is not a trusted proxy, or names no address', () => {
    expect(addressOf('198.51.100.7', '203.0.113.9')).toBe('198.51.100.7');
    expect(addressOf('10.1.2.3', undefined)).toBe('10.1.2.3');
    expect(addressOf('10.1.2.3', 'unknown')).toBe('10.1.2.3');
    expect(addressOf('10.1.2.3', '203.0.113.9, ')).toBe('10.1.2.3');
    expect(addressOf(undefined, '203.0.113.9')).toBeUndefined();
    expect(createClientAddress([])('10.1.2.3', '203.0.113.9')).toBe('10.1.2.3');
  });

  it('cannot be chosen by the client, and is never that of this machine', () => {
    expect(addressOf('10.1.2.3', '1.1.1.1, 198.51.100.7')).toBe('198.51.100.7');
    expect(addressOf('10.1.2.3', '127.0.0.1')).toBe('10.1.2.3');
    expect(addressOf('10.1.2.3', '::1')).toBe('10.1.2.3');
    expect(addressOf('10.1.2.3', '[::ffff:127.0.0.1]:1')).toBe('10.1.2.3');
    expect(addressOf('10.1.2.3', `${'10.0.0.1,'.repeat(100_000)}10.0.0.2`)).toBe('10.0.0.1');
  });

  it('needs addresses or networks in the plan', () => {
    const texts = ['10.0.0.0/8', '::1', 'fd00::/8', '10.0.0.0/33', '10.0.0', 'localhost', '1.2.3.4/8/8', '::/129', ''];
    expect(texts.filter(isAddressOrNetwork)).toEqual(['10.0.0.0/8', '::1', 'fd00::/8']);
  });

  it('is what routes get', async () => {
    const answer: RouteAnswer = ({ remoteAddress }, _body, to) => to.send(200, {}, remoteAddress);
    const routes = routesOf((table) => table.add('GET', '/who', answer));
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    await using trusting = await openEndpoint({ routes, trustedProxies: ['127.0.0.1'] });
    expect(await (await fetch(`${trusting.origin}/who`, { headers })).text()).toBe('198.51.100.7');
    await using other = await openEndpoint({ routes });
    expect(await (await fetch(`${other.origin}/who`, { headers })).text()).toBe('127.0.0.1');
  });
});
