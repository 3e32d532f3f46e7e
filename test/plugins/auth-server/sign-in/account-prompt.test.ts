import { expect, it } from 'vitest';
import { asksForAccount } from '../../../../plugins/auth-server/sign-in/account-prompt.ts';

it.each([
  ['https://id.example/authorize?state=s', 'login'],
  ['https://id.example/authorize?prompt=consent', 'login consent'],
  ['https://id.example/authorize?prompt=none', 'login'],
  ['https://accounts.google.com/o/oauth2/v2/auth?prompt=consent', 'select_account consent'],
  ['https://github.com/login/oauth/authorize', 'select_account'],
  ['https://accounts.google.com.evil.example/', 'login'],
])('a person who wants another account is sent to %s with prompt=%s', (url, prompt) => {
  const sent = new URL(asksForAccount(url));
  expect(sent.searchParams.getAll('prompt')).toEqual([prompt]);
  expect(sent.hostname).toBe(new URL(url).hostname);
});
