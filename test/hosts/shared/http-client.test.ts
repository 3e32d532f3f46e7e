import { describe, expect } from 'vitest';
import { httpClientFrom } from '../../../hosts/shared/http-client.ts';
import { UsageError } from '../../../hosts/shared/usage-error.ts';
import { proves } from '../../support/proves.ts';

describe('TOOLMGR_HTTP_CLIENT', () => {
  proves('choice.backend.http-client', 'sets the client of HTTP backends, and is refused for an unknown one', () => {
    expect(httpClientFrom({})).toEqual({});
    expect(httpClientFrom({ TOOLMGR_HTTP_CLIENT: '' })).toEqual({});
    expect(httpClientFrom({ TOOLMGR_HTTP_CLIENT: 'undici' })).toEqual({ httpClient: 'undici' });
    const wrong = () => httpClientFrom({ TOOLMGR_HTTP_CLIENT: 'curl' });
    expect(wrong).toThrow(UsageError);
    expect(wrong).toThrow('TOOLMGR_HTTP_CLIENT: expected own or undici, got "curl"');
  });
});
