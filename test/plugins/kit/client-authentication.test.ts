import { clientAuthentication } from '@toolmgr/plugins/kit/oauth/settings';
import { expect, it } from 'vitest';

const SERVER = { issuer: 'https://idp.example' };

async function sentBy(id: string | undefined, secret: string | undefined) {
  const form = new URLSearchParams();
  const headers = new Headers();
  await clientAuthentication({ id, secret })(SERVER, { client_id: 'unused' }, form, headers);
  const basic = headers.get('authorization')?.replace('Basic ', '');
  return { form: form.toString(), basic: basic && Buffer.from(basic, 'base64').toString('utf8') };
}

it('form-encodes id and secret', async () => {
  expect(await sentBy('gate-way_1.x', 'a:b c&ü')).toEqual({ form: '', basic: 'gate-way_1.x:a%3Ab+c%26%C3%BC' });
});

it('sends only the id without a secret, and nothing without an id', async () => {
  expect(await sentBy('gate way', undefined)).toEqual({ form: 'client_id=gate+way', basic: undefined });
  expect(await sentBy(undefined, undefined)).toEqual({ form: '', basic: undefined });
});
