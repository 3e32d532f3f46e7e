import { describe, expect } from 'vitest';
import { z } from 'zod';
import { clientsShape } from '../../../../plugins/auth-server/clients/config.ts';
import { proves } from '../../../support/proves.ts';

const config = z.strictObject(clientsShape);
const cimdOf = (cimd: unknown) => config.parse({ cimd }).cimd;

describe('configuration of clients', () => {
  proves('vmcp.auth-server.cimd.enabled', 'requires cimd.enabled; without cimd it is false', () => {
    expect(config.parse({}).cimd.enabled).toBe(false);
    expect(() => cimdOf({})).toThrow('enabled');
    expect(() => cimdOf({ enabled: 'yes' })).toThrow('enabled');
  });

  proves(
    'vmcp.auth-server.cimd.cache-fallback-ttl',
    'reads cacheFallbackTtl as a Go duration, 5 min by default',
    () => {
      expect(cimdOf({ enabled: true }).cacheFallbackTtl).toBe(300_000);
      expect(cimdOf({ enabled: true, cacheFallbackTtl: '1h30m' }).cacheFallbackTtl).toBe(5_400_000);
      expect(() => cimdOf({ enabled: true, cacheFallbackTtl: 300 })).toThrow('Go duration');
    },
  );

  proves(
    'vmcp.auth-server.cimd.cache-max-size',
    'reads cacheMaxSize as an integer of at least 1, 256 by default',
    () => {
      expect(cimdOf({ enabled: true }).cacheMaxSize).toBe(256);
      for (const cacheMaxSize of [0, 1.5, '9'])
        expect(() => cimdOf({ enabled: true, cacheMaxSize })).toThrow('cacheMaxSize');
    },
  );
});
