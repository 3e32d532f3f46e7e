import { expect } from 'vitest';
import { authServerRig } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';

const PATHS = [
  ...['/oauth/authorize', '/oauth/token', '/oauth/revoke', '/oauth/register', '/oauth/connect', '/connections'],
  ...['/.well-known/jwks.json', '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
];

proves('choice.oauth.methods', 'every path answers HEAD as GET, or names neither in Allow', async () => {
  await using rig = await authServerRig({ realSignIn: true });
  const ask = async (path: string, method: string) => {
    const answer = await fetch(rig.http.origin + path, { method, redirect: 'manual' });
    return { status: answer.status, allow: answer.headers.get('allow'), body: await answer.text() };
  };
  for (const path of [...PATHS, rig.begin(await rig.register()).url.slice(rig.http.origin.length)]) {
    const [got, head, put] = await Promise.all(['GET', 'HEAD', 'PUT'].map((method) => ask(path, method)));
    expect([path, head?.status, head?.body]).toEqual([path, got?.status, '']);
    expect([path, put?.status]).toEqual([path, 405]);
    const allowed = (put?.allow ?? '').split(', ');
    expect([path, allowed.includes('HEAD')]).toEqual([path, allowed.includes('GET')]);
    expect([path, got?.status === 405]).toEqual([path, !allowed.includes('GET')]);
  }
});
