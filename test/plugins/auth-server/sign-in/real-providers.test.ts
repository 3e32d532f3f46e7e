import { describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { callerOf } from '../../../support/accounts.ts';
import { type AuthServerRig, claimsOf, REDIRECT, TestBrowser } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';
import { signInServer } from '../../../support/sign-in-providers.ts';

/** Where a browser ended: a page of the gateway, or the answer for the client. */
interface Ended {
  readonly url: string;
  readonly status: number;
  readonly body: string;
  /** Parameters for the client; empty on a page. */
  readonly answer: URLSearchParams;
}

/** Follows redirects, also those of pages, until a page asks the person or the client gets its answer. */
async function follow(
  browser: TestBrowser,
  from: string | { readonly answer: Response; readonly url: string },
): Promise<Ended> {
  let url = typeof from === 'string' ? from : from.url;
  let response = typeof from === 'string' ? await browser.get(from) : from.answer;
  for (let hops = 0; hops < 30; hops++) {
    const body = await response.text();
    const refresh = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(body)?.[1]?.replaceAll('&#38;', '&');
    const next = response.headers.get('location') ?? refresh;
    if (next === undefined) return { url, status: response.status, body, answer: new URLSearchParams() };
    if (next.startsWith(REDIRECT)) return { url: next, status: 303, body: '', answer: new URL(next).searchParams };
    url = new URL(next, url).href;
    response = await browser.get(url);
  }
  throw new Error(`the redirects do not end: ${url}`);
}

/** Presses a button of a page of the gateway. */
async function press(browser: TestBrowser, page: Ended, name: string, value: string): Promise<Ended> {
  const form = [...page.body.matchAll(/<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].find(([text]) =>
    text.includes(`name="${name}" value="${value}"`),
  );
  const [, action = '', inner = ''] = form ?? [];
  const hidden = [...inner.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(
    ([, key = '', text = '']) => [key, text] as const,
  );
  const url = new URL(action, page.url).href;
  const answer = await browser.post(url, { ...Object.fromEntries(hidden), [name]: value });
  return follow(browser, { answer, url });
}

/** Signs in, consents and returns the tokens of the client. */
async function signIn(rig: AuthServerRig, browser = new TestBrowser()) {
  const attempt = rig.begin(await rig.register());
  const consent = await follow(browser, attempt.url);
  const { answer } = await press(browser, consent, 'choice', 'allow');
  const { status, body } = await attempt.exchange(answer.get('code') ?? '');
  if (status !== 200) throw new Error(`no tokens: ${consent.body} ${JSON.stringify(body)}`);
  return { browser, body, claims: claimsOf(body.access_token ?? '') };
}

describe('signing in at real providers', () => {
  proves(
    'vmcp.authentication.upstream-drive',
    'issues tokens after the person went through all required providers, and tokens of all of them',
    async () => {
      await using test = await signInServer({ github: 'required' });
      const { rig, corp, github } = test;
      github.loginAs = 'bob';
      const { claims } = await signIn(rig);
      expect(claims).toMatchObject({ name: 'Ada', email: 'ada@example.com' });
      for (const provider of [corp, github]) expect(provider.seen).toContain('POST /token');
      const caller = callerOf(String(claims.sub), String(claims.tsid), {}, rig.issuer);
      const tokens = await Promise.all(
        ['corp', 'github'].map((name) => rig.server.upstreamTokens.obtain(caller, name, AbortSignal.timeout(10_000))),
      );
      expect(tokens.map((token) => token.claims.sub)).toEqual(['ada', 'bob']);
      expect(rig.server.upstreamTokens.known(caller, 'corp')).toBeDefined();
    },
  );

  it('does not ask a provider again while the browser is signed in', async () => {
    await using test = await signInServer();
    const { browser, claims } = await signIn(test.rig);
    const before = test.corp.seen.length;
    const again = await signIn(test.rig, browser);
    expect(test.corp.seen.length).toBe(before);
    expect(again.claims.sub).toBe(claims.sub);
    expect(again.claims.tsid).not.toBe(claims.tsid);
  });

  proves('choice.sign-in.asked-prompts', 'asks a provider again with prompt=login and max_age', async () => {
    await using test = await signInServer();
    const { browser } = await signIn(test.rig);
    const asked = (more: Readonly<Record<string, string>>) => async () => {
      const before = test.corp.seen.length;
      await follow(browser, test.rig.begin(await test.rig.register(), more).url);
      return test.corp.seen.length > before;
    };
    expect(await asked({ max_age: '3600', scope: 'openid' })()).toBe(false);
    expect(await asked({ prompt: 'login' })()).toBe(true);
    expect(await asked({ max_age: '0', scope: 'openid' })()).toBe(true);
  });

  it('asks a required provider again when the person disconnected it, and keeps the person', async () => {
    await using test = await signInServer({ github: 'required' });
    const { browser, claims } = await signIn(test.rig);
    const page = await follow(browser, `${test.rig.issuer}/connections`);
    expect((await press(browser, page, 'do', 'disconnect')).body).toContain('The account is disconnected.');
    const again = await signIn(test.rig, browser);
    expect(again.claims.sub).toBe(claims.sub);
    expect(await test.rig.server.accounts.connections(String(claims.sub))).toHaveLength(2);
  });

  it('shows a page with a retry when the provider goes away after the login', async () => {
    await using test = await signInServer();
    const { rig, corp } = test;
    const browser = new TestBrowser();
    const attempt = rig.begin(await rig.register());
    await follow(new TestBrowser(), attempt.url); // the provider is discovered now
    const sent = await untilProvider(browser, attempt.url, corp.issuer);
    const back = await untilCallback(browser, sent, rig.audience);
    await corp.pause();
    const told = await follow(browser, back);
    expect(told).toMatchObject({ status: 503 });
    const retry = /href="([^"]*sign-in[^"]*)">Try again/.exec(told.body)?.[1] ?? '';
    await corp.resume();
    const consent = await follow(browser, new URL(retry, rig.issuer).href);
    expect((await press(browser, consent, 'choice', 'allow')).answer.has('code')).toBe(true);
  });

  it('continues on another replica after every step', async () => {
    const storage = createMemoryStorage(Date.now);
    await using test = await signInServer({ github: 'required', storage });
    await using other = await test.replica();
    const { rig, corp } = test;
    const browser = new TestBrowser();
    const elsewhere = (url: string): string => url.replace(rig.http.origin, other.http.origin);
    const attempt = rig.begin(await rig.register());
    const sent = await untilProvider(browser, attempt.url, corp.issuer);
    const back = await untilCallback(browser, sent, rig.audience);
    const page = await browser.get(elsewhere(back));
    expect(page.status).toBe(303);
    const consent = await follow(browser, new URL(page.headers.get('location') ?? '', rig.issuer).href);
    expect(consent.body).toContain('Allow');
    const { answer } = await press(browser, { ...consent, url: elsewhere(consent.url) }, 'choice', 'allow');
    expect((await attempt.exchange(answer.get('code') ?? '')).status).toBe(200);
  });

  it('tells a client that the person denied, and issues no code', async () => {
    await using test = await signInServer();
    const browser = new TestBrowser();
    const consent = await follow(browser, test.rig.begin(await test.rig.register()).url);
    const { answer } = await press(browser, consent, 'choice', 'deny');
    expect(answer.get('error')).toBe('access_denied');
    expect(answer.get('state')).toBe('state-of-client');
    expect(answer.get('iss')).toBe(test.rig.issuer);
    expect(answer.has('code')).toBe(false);
  });

  it('tells a client that a provider refused, without the text of the provider', async () => {
    await using test = await signInServer();
    const { rig, corp } = test;
    const browser = new TestBrowser();
    const sent = await untilProvider(browser, rig.begin(await rig.register()).url, corp.issuer);
    const state = new URL(sent).searchParams.get('state');
    const refused = new URLSearchParams({
      error: 'access_denied',
      error_description: 'canary',
      state: state ?? '',
      iss: corp.issuer,
    });
    const { answer, url } = await follow(browser, `${rig.audience}/oauth/callback?${refused}`);
    expect(answer.get('error')).toBe('access_denied');
    expect(url).not.toContain('canary');
  });

  it('refuses an answer that names another issuer (mix-up)', async () => {
    await using test = await signInServer();
    const { rig, corp, github } = test;
    const browser = new TestBrowser();
    const sent = await untilProvider(browser, rig.begin(await rig.register()).url, corp.issuer);
    const back = new URL(await untilCallback(browser, sent, rig.audience));
    back.searchParams.set('iss', github.issuer);
    const before = corp.seen.length;
    const { answer } = await follow(browser, back.href);
    expect(answer.get('error')).toBe('access_denied');
    expect(corp.seen.slice(before)).not.toContain('POST /token');
  });

  it('shows no token and no session cookie in a page or a log line', async () => {
    await using test = await signInServer();
    const { rig } = test;
    const { browser, body, claims } = await signIn(rig);
    const caller = callerOf(String(claims.sub), String(claims.tsid), {}, rig.issuer);
    const { accessToken } = await rig.server.upstreamTokens.obtain(caller, 'corp', AbortSignal.timeout(10_000));
    const page = await follow(browser, `${rig.issuer}/connections`);
    const secrets = [body.access_token, body.refresh_token, accessToken.reveal()];
    const seen = `${page.body}${JSON.stringify(rig.http.logged)}`;
    for (const secret of secrets) expect(seen).not.toContain(String(secret));
    const [cookie] = [...browser.cookies].filter(([key]) => key.includes('_session')).map(([, { value }]) => value);
    expect(cookie).toMatch(/\S/);
    expect(seen).not.toContain(cookie);
  });
});

/** Follows redirects of the gateway to the provider. */
async function untilProvider(browser: TestBrowser, from: string, issuer: string): Promise<string> {
  return untilUrl(browser, from, (url) => url.startsWith(`${issuer}/auth?`));
}

/** Follows redirects of the provider back to the gateway. */
async function untilCallback(browser: TestBrowser, from: string, audience: string): Promise<string> {
  return untilUrl(browser, from, (url) => url.startsWith(`${audience}/oauth/callback?`));
}

async function untilUrl(browser: TestBrowser, from: string, isEnd: (url: string) => boolean): Promise<string> {
  let url = from;
  for (let hops = 0; hops < 30 && !isEnd(url); hops++) {
    const response = await browser.get(url);
    const next = response.headers.get('location');
    if (next === null) throw new Error(`no redirect from ${url}: ${await response.text()}`);
    url = new URL(next, url).href;
  }
  return url;
}
