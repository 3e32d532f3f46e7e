import { createHash, randomBytes } from 'node:crypto';
import { httpBrowser } from './http-browser.ts';

const REDIRECT = 'http://127.0.0.1:33419/callback';

/** Registers a client at an authorization server, signs the person of the provider in, and returns the access token. */
export async function signedInToken({
  issuer,
  url,
}: {
  readonly issuer: string;
  readonly url: string;
}): Promise<string> {
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const registration = { client_name: 'Test', redirect_uris: [REDIRECT] };
  const registered = await fetch(`${issuer}/oauth/register`, { ...json, body: JSON.stringify(registration) });
  const { client_id } = (await registered.json()) as { readonly client_id: string };
  const verifier = randomBytes(32).toString('base64url');
  const request = new URLSearchParams({
    ...{ client_id, redirect_uri: REDIRECT, response_type: 'code', state: 'state-of-a-test', resource: url },
    ...{ scope: 'openid', code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  const { searchParams } = await httpBrowser().open(`${issuer}/oauth/authorize?${request}`, REDIRECT);
  const body = new URLSearchParams({
    ...{ grant_type: 'authorization_code', client_id, redirect_uri: REDIRECT, code_verifier: verifier, resource: url },
    code: searchParams.get('code') ?? '',
  });
  const answer = await fetch(`${issuer}/oauth/token`, { method: 'POST', body });
  const { access_token } = (await answer.json()) as { readonly access_token?: string };
  if (access_token === undefined) throw new Error(`no token: ${answer.status}`);
  return access_token;
}
