import { type Core, definePlugin } from '@toolmgr/core';
import { testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const PRINTS_ITS_VARIABLES = {
  transport: 'stdio',
  command: { file: process.execPath, args: ['-e', 'console.error(JSON.stringify(process.env)); process.exit(1)'] },
} as const;

/** A gateway and what one of its plugins sees. */
async function gatewayWith(environment: Record<string, string> | undefined, backends = {}) {
  let seen: Core['environment'] | undefined;
  const looks = definePlugin({
    address: 'looks',
    config: z.strictObject({}),
    apply(core) {
      seen = core.environment;
    },
  });
  const kit = await testGateway({ plugins: [looks], backends, ...(environment === undefined ? {} : { environment }) });
  return { kit, seen };
}

describe('the environment of a gateway', () => {
  it('is what its plugins read, and that of the process by default', async () => {
    const given = await gatewayWith({ LANG: 'de' });
    expect(given.seen).toEqual({ LANG: 'de' });
    await given.kit.gateway.stop();
    const own = await gatewayWith(undefined);
    expect(own.seen).toBe(process.env);
    await own.kit.gateway.stop();
  });

  it('is what programs inherit from', async () => {
    const { kit } = await gatewayWith({ LANG: 'de', KEY: 'secret' }, { far: PRINTS_ITS_VARIABLES });
    await using _ = kit;
    expect(kit.logged.join()).toContain(JSON.stringify('{"LANG":"de"}').slice(1, -1));
  });

  it('names the proxies of HTTP backends', async () => {
    const far = { transport: 'streamable-http', url: 'http://far.example/mcp' } as const;
    const { kit } = await gatewayWith({ HTTP_PROXY: 'ftp://proxy.example' }, { far });
    await using _ = kit;
    expect(kit.gateway.backends()[0]?.cause?.message).toContain('needs a proxy that cannot be used');
  });
});
