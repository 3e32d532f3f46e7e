import { expect, test } from 'vitest';
import { AUTH_SERVER } from '../../../../hosts/operator/kinds/auth-server-rules.ts';
import { authorizationParams } from '../../../../plugins/auth-server/upstreams/config-fields.ts';

test('the CRD refuses the authorization parameters that the authorization server refuses', () => {
  const ofCrd = AUTH_SERVER.within?.['upstreamProviders.[].oidcConfig.additionalAuthorizationParams']?.rules?.[0];
  const refused = [...(ofCrd?.rule ?? '').matchAll(/'([a-z_]+)' in self/g)].map(([, name = '']) => name);
  expect(refused).toContain('redirect_uri');
  const all = Object.fromEntries([...refused, 'prompt', 'login_hint', 'resource'].map((name) => [name, 'x']));
  const faults = authorizationParams.safeParse(all).error?.issues.map(({ path }) => path[0]);
  expect(faults).toEqual(refused);
});
