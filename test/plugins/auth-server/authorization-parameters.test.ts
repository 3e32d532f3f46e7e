import { expect, test } from 'vitest';
import { rules } from '../../../plugins/auth-server/from-cluster.ts';
import { authorizationParams } from '../../../plugins/auth-server/upstreams/config-fields.ts';

test('the CRD refuses the authorization parameters that the authorization server refuses', () => {
  const ofCrd = rules?.within?.['upstreamProviders.[].oidcConfig.additionalAuthorizationParams']?.rules?.[0];
  const refused = [...(ofCrd?.rule ?? '').matchAll(/'([a-z_]+)' in self/g)].map(([, name = '']) => name);
  expect(refused).toContain('redirect_uri');
  const all = Object.fromEntries([...refused, 'prompt', 'login_hint', 'resource'].map((name) => [name, 'x']));
  const faults = authorizationParams.safeParse(all).error?.issues.map(({ path }) => path[0]);
  expect(faults).toEqual(refused);
});
