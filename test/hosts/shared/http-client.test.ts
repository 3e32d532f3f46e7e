import { afterEach, describe, expect, vi } from 'vitest';
import { httpClientFrom } from '../../../hosts/shared/http-client.ts';
import { UsageError } from '../../../hosts/shared/usage-error.ts';
import { gatewayOpener } from '../../../hosts/vmcp/serve/open-gateway.ts';
import { proves } from '../../support/proves.ts';
import { vmcpConfig } from '../../support/vmcp-file.ts';
import { readText } from '../../support/vmcp-text.ts';

afterEach(() => vi.unstubAllEnvs());

/** The client of the gateway of a vmcp file. */
async function clientOf(more: object): Promise<string> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const parts = { flags: { loopback: true }, baseDir: '/', log, feed: undefined, sessionsMustMove: false } as const;
  const file = JSON.stringify(vmcpConfig({}, more)); // JSON is YAML
  const { gateway, plan } = await gatewayOpener(parts)(await readText(file));
  await gateway.stop();
  return plan.httpClient;
}

describe('TOOLMGR_HTTP_CLIENT', () => {
  proves('choice.backend.http-client', 'sets the client of HTTP backends, and is refused for an unknown one', () => {
    expect(httpClientFrom({})).toEqual({});
    expect(httpClientFrom({ TOOLMGR_HTTP_CLIENT: '' })).toEqual({});
    expect(httpClientFrom({ TOOLMGR_HTTP_CLIENT: 'undici' })).toEqual({ httpClient: 'undici' });
    const wrong = () => httpClientFrom({ TOOLMGR_HTTP_CLIENT: 'curl' });
    expect(wrong).toThrow(UsageError);
    expect(wrong).toThrow('TOOLMGR_HTTP_CLIENT: expected own or undici, got "curl"');
  });

  proves('choice.backend.http-client', 'is used by a vmcp file without httpClient; own is the default', async () => {
    vi.stubEnv('TOOLMGR_HTTP_CLIENT', undefined);
    expect(await clientOf({})).toBe('own');
    vi.stubEnv('TOOLMGR_HTTP_CLIENT', 'undici');
    expect(await clientOf({})).toBe('undici');
    expect(await clientOf({ httpClient: 'own' })).toBe('own');
  });
});
