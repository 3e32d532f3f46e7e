import { notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';
import { expect, test } from 'vitest';
import { isForbidden } from '../../../../core/http1/allowed-addresses.ts';
import fc from '../../../support/fast-check.ts';

/** Networks of the address registries of IANA, some public ones, and forms of IPv6 that carry an IPv4 address. */
const NETWORKS = [
  ...['0.0.0.0', '10.0.0.0', '100.64.0.0', '127.0.0.0', '169.254.0.0', '172.16.0.0', '192.0.0.0', '192.0.2.0'],
  ...[
    '192.88.99.0',
    '192.168.0.0',
    '198.18.0.0',
    '198.51.100.0',
    '203.0.113.0',
    '224.0.0.0',
    '240.0.0.0',
    '255.255.255.255',
  ],
  ...[
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.32.0.0',
    '100.128.0.0',
    '::',
    '::1',
    '::ffff:0:0',
    '64:ff9b::',
    '64:ff9b:1::',
  ],
  ...[
    '100::',
    '2001::',
    '2001:db8::',
    '2002::',
    '2002:a00::',
    '2606:4700::',
    '2a00::',
    '3fff::',
    '5f00::',
    'fc00::',
    'fe80::',
    'ff02::',
  ],
] as const;

const address = fc
  .tuple(fc.constantFrom(...NETWORKS), fc.nat(0xffff), fc.nat(0xffff))
  .map(([network, high, low]) =>
    network.includes(':')
      ? `${network.replace(/::.*$/, '')}::${network === '::ffff:0:0' ? 'ffff:' : ''}${high.toString(16)}:${low.toString(16)}`
      : network.replace(
          /(\d+)\.(\d+)$/,
          (_, third, fourth) => `${Number(third) ^ (high & 3)}.${(Number(fourth) + low) & 255}`,
        ),
  );

test('connections to backends refuse every address that clients of configured services refuse, and no other', () => {
  fc.assert(
    fc.property(address, (each) => {
      expect([each, isForbidden(each, 'public')]).toEqual([each, notPublic(each) !== undefined]);
    }),
    { numRuns: 5_000 },
  );
  for (const each of NETWORKS)
    expect([each, isForbidden(each, 'public')]).toEqual([each, notPublic(each) !== undefined]);
});
