import { ANONYMOUS, type AuthContext, type BackendRequest } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import headerInjection from '../../../plugins/outgoing-auth/header-injection/index.ts';
import { createHeaderInjection } from '../../../plugins/outgoing-auth/header-injection/strategy.ts';
import unauthenticated from '../../../plugins/outgoing-auth/unauthenticated/index.ts';
import { bootPlugin, pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const outbound = (): BackendRequest => ({
  backend: { name: 'github', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' },
  method: 'POST',
  url: 'http://127.0.0.1:1/mcp',
  headers: { 'content-type': 'application/json' },
});
const authContext: AuthContext = {
  caller: ANONYMOUS,
  purpose: 'call',
  signal: new AbortController().signal,
};

describe('outgoing-auth/unauthenticated', () => {
  proves('ask.plugin.unauthenticated', 'adds no header to a request', async () => {
    const core = await bootPlugin(unauthenticated, {});
    const authorizer = await core.slots.authStrategies
      .get('unauthenticated')
      .prepare(undefined, 'outgoingAuth.default');
    const request = outbound();
    await authorizer.apply(request, authContext);
    expect(request.headers).toEqual({ 'content-type': 'application/json' });
  });

  it('refuses options, because it has none', async () => {
    const core = await bootPlugin(unauthenticated, {});
    const strategy = core.slots.authStrategies.get('unauthenticated');
    await expect(strategy.prepare({ headerName: 'x' }, 'outgoingAuth.default')).rejects.toMatchObject({
      code: 'AUTH_STRATEGY_INVALID',
      message: expect.stringContaining('outgoingAuth.default'),
    });
  });
});

describe('outgoing-auth/header-injection', () => {
  const prepare = (options: unknown, environment: NodeJS.ProcessEnv = {}) =>
    createHeaderInjection(pluginCore(environment).slots).prepare(options, 'outgoingAuth.backends.github');

  proves(
    ['ask.plugin.header-injection', 'vmcp.config-outgoing.header-value'],
    'puts its header on every request, in lower case',
    async () => {
      const core = await bootPlugin(headerInjection, {});
      const strategy = core.slots.authStrategies.get('header_injection');
      const authorizer = await strategy.prepare({ headerName: 'X-Api-Key', headerValue: 'v1' }, 'here');
      expect(authorizer.headerNames).toEqual(['x-api-key']);
      for (let round = 0; round < 2; round++) {
        const request = outbound();
        await authorizer.apply(request, authContext);
        expect(request.headers).toEqual({ 'content-type': 'application/json', 'x-api-key': 'v1' });
      }
    },
  );

  it('puts a prefix before the value, for secrets that hold a token alone', async () => {
    const options = { headerName: 'Authorization', headerValueEnv: 'TOKEN', valuePrefix: 'Bearer ' };
    const request = outbound();
    await (await prepare(options, { TOKEN: 'abc' })).apply(request, authContext);
    expect(request.headers.authorization).toBe('Bearer abc');
    await expect(prepare({ ...options, valuePrefix: 'a\nb' }, { TOKEN: 'abc' })).rejects.toThrow(/valuePrefix/);
  });

  it('reads the value from the environment once, when it is prepared', async () => {
    const environment = { TOKEN: 'Bearer abc' };
    const authorizer = await prepare({ headerName: 'Authorization', headerValueEnv: 'TOKEN' }, environment);
    environment.TOKEN = 'changed';
    const request = outbound();
    await authorizer.apply(request, authContext);
    expect(request.headers.authorization).toBe('Bearer abc');
  });

  proves('choice.standalone.env-name-unset', 'names the variable that is not set or empty', async () => {
    const options = { headerName: 'Authorization', headerValueEnv: 'GITHUB_TOKEN' };
    await expect(prepare(options)).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: expect.stringMatching(/outgoingAuth\.backends\.github.*GITHUB_TOKEN is not set/),
    });
    await expect(prepare(options, { GITHUB_TOKEN: '' })).rejects.toThrow(/GITHUB_TOKEN is empty/);
  });

  it.each([
    ['both values', { headerName: 'X-A', headerValue: 'v', headerValueEnv: 'V' }, /exactly one/],
    ['no value', { headerName: 'X-A' }, /exactly one/],
    ['a name with a space', { headerName: 'X A', headerValue: 'v' }, /headerName: expected a header name/],
    ['a header of the connection', { headerName: 'Host', headerValue: 'v' }, /headerName: this header belongs/],
    ['a header of MCP', { headerName: 'Mcp-Session-Id', headerValue: 'v' }, /headerName: this header belongs/],
    ['a header that would ask for compressed answers', { headerName: 'Accept-Encoding', headerValue: 'v' }, /belongs/],
    ['a name that would set nothing', { headerName: '__proto__', headerValue: 'v' }, /headerName: this header belongs/],
    [
      'a value beyond Latin-1',
      { headerName: 'X-A', headerValue: 'schlüssel 🔑' },
      /headerValue: expected a value without/,
    ],
    ['an endless value', { headerName: 'X-A', headerValue: 'a'.repeat(16_385) }, /headerValue: expected at most 16384/],
    ['a value with a line break', { headerName: 'X-A', headerValue: 'v\r\nX-B: w' }, /headerValue: expected a value/],
    ['a misspelt key', { headerName: 'X-A', headerValu: 'v' }, /unknown key "headerValu", did you mean "headerValue"/],
  ])('refuses %s', async (_what, options, sentence) => {
    await expect(prepare(options)).rejects.toMatchObject({ code: 'AUTH_STRATEGY_INVALID' });
    await expect(prepare(options)).rejects.toThrow(sentence);
  });

  it.each([
    ['a line break at its end', 'Bearer abc\n'],
    ['a second header', 'v\r\nX-Evil: 1'],
    ['a null', 'a\0b'],
    ['letters beyond Latin-1', 'ключ'],
    ['no end', 'a'.repeat(20_000)],
  ])('refuses the value of a variable that has %s', async (_what, value) => {
    const refused = prepare({ headerName: 'X-A', headerValueEnv: 'V' }, { V: value });
    await expect(refused).rejects.toMatchObject({ code: 'AUTH_STRATEGY_INVALID' });
    await expect(refused).rejects.toThrow(/headerValueEnv: the value of V is not a valid header value/);
  });

  it('never repeats a value in an error', async () => {
    const secret = 'top-secret\u0000value';
    await expect(prepare({ headerName: 'X-A', headerValue: secret })).rejects.not.toThrow(/top-secret/);
    await expect(prepare({ headerName: 'X-A', headerValueEnv: 'S' }, { S: secret })).rejects.not.toThrow(/top-secret/);
  });
});
