import { describe, expect, it } from 'vitest';
import oidc from '../../../../plugins/incoming-auth/oidc/index.ts';
import fc from '../../../support/fast-check.ts';
import { base64url, identityProvider } from '../../../support/identity-provider.ts';
import { AUDIENCE } from '../../../support/oidc-gateway.ts';
import { bootPlugin } from '../../../support/plugin-core.ts';

const inbound = (authorization: string) => ({
  method: 'POST',
  path: '/mcp',
  headers: { authorization, host: 'localhost:1' },
  remoteAddress: '127.0.0.1',
  signal: new AbortController().signal,
});

describe('any Authorization header', () => {
  it('that is not a token of the provider is refused with 401, and never causes an error', async () => {
    await using idp = await identityProvider();
    const core = await bootPlugin(oidc, {
      issuer: idp.issuer,
      clientId: 'gateway',
      audience: AUDIENCE,
      insecureAllowHttp: true,
      jwksAllowPrivateIp: true,
    });
    core.clock.nowMs = Date.now();
    const good = idp.sign({ sub: 'ada', aud: AUDIENCE });
    expect(await core.hooks.authenticate.promise(inbound(`Bearer ${good}`))).toMatchObject({ subject: 'ada' });
    const [head = '', body = '', signature = ''] = good.split('.');
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { readonly kid: string };
    const json = fc.jsonValue() as fc.Arbitrary<never>;
    const part = fc.oneof(
      fc.base64String(),
      fc.constantFrom(head, body, signature, ''),
      json.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc
        .record(
          {
            alg: fc.oneof(fc.constantFrom('ES256', 'RS256', 'HS256', 'none'), json),
            kid: fc.oneof(fc.constant(kid), json),
            typ: json,
          },
          { requiredKeys: ['alg'] },
        )
        .map(base64url),
      fc.record({ iss: json, sub: json, aud: json, exp: json, nbf: json }, { requiredKeys: [] }).map(base64url),
    );
    const header = fc.oneof(
      fc.string(),
      fc.string().map((text) => `Bearer ${text}`),
      fc.tuple(part, part, part).map((parts) => `Bearer ${parts.join('.')}`),
      fc.array(part, { maxLength: 6 }).map((parts) => `bearer ${parts.join('.')}`),
    );
    await fc.assert(
      fc.asyncProperty(header, async (given) => {
        fc.pre(!given.endsWith(good));
        expect(await core.hooks.authenticate.promise(inbound(given))).toMatchObject({ refused: true, status: 401 });
      }),
      { numRuns: 500 },
    );
    await core.hooks.stopping.promise();
  });
});
