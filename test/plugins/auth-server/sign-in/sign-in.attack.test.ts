import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { type FakeAnswer, signInRig } from '../../../support/sign-in-rig.ts';
import { answerAt, askedForConsent, outcomeOf, signedInBrowser } from '../../../support/sign-in-steps.ts';

/** Location and query of a leg to a provider. */
const sentTo = (answer: FakeAnswer): string => answer.location ?? answer.refresh ?? '';

describe('the answer of a provider', () => {
  proves(
    'choice.sign-in.browser-bound',
    'is refused in another browser: no login into the account of an attacker, and the leg stays open',
    async () => {
      const rig = signInRig();
      const [attacker, victim] = [rig.browser(), rig.browser()];
      const page = attacker.begin();
      victim.begin();
      const query = rig.upstream('corp').answer(sentTo(await attacker.get(page)), 'mallory');
      expect((await victim.get(`/oauth/callback?${query}`)).status).toBe(400);
      expect(rig.upstream('corp').exchanged).toEqual([]);
      expect([...victim.jar.keys()]).toEqual(['interaction']);
      expect((await attacker.get(`/oauth/callback?${query}`)).location).toBe(page);
    },
  );

  it('is refused in another browser for the page of connections too', async () => {
    const rig = signInRig();
    const [attacker, victim] = [rig.browser(), rig.browser()];
    const sent = await attacker.press(await attacker.get('/connections'), 'Sign in with corp');
    await victim.get('/connections');
    const query = rig.upstream('corp').answer(sentTo(sent), 'mallory');
    expect((await victim.get(`/oauth/callback?${query}`)).status).toBe(400);
    expect(victim.jar.has('session')).toBe(false);
  });

  proves('choice.sign-in.browser-bound', 'is taken once', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    const query = rig.upstream('corp').answer(sentTo(await browser.get(page)), 'ada');
    const answers = await Promise.all([1, 2, 3].map(() => browser.get(`/oauth/callback?${query}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
    expect(rig.upstream('corp').exchanged).toEqual(['ada']);
  });

  proves(
    'choice.sign-in.mix-up',
    'goes to the provider that the browser was sent to, also with the code of another one',
    async () => {
      const rig = signInRig({ upstreams: ['corp', 'jira'] });
      const [browser, other] = [rig.browser(), rig.browser()];
      const page = browser.begin();
      const first = await browser.get(page);
      const elsewhere = other.begin();
      await answerAt(rig, other, 'corp', await other.get(elsewhere), 'bob');
      const code = rig
        .upstream('jira')
        .answer(sentTo(await other.get(elsewhere)), 'bob')
        .match(/code=([^&]+)/)?.[1];
      const state = new URL(sentTo(first)).searchParams.get('state');
      await browser.get(`/oauth/callback?code=${code}&state=${state}&provider=jira&iss=https://jira.example`);
      expect(rig.upstream('jira').exchanged).toEqual([]);
      await browser.get(page);
      expect(outcomeOf(rig, page)).toMatchObject({ error: 'access_denied' });
    },
  );

  it('is useless with the code of another sign-in', async () => {
    const rig = signInRig();
    const [attacker, victim] = [rig.browser(), rig.browser()];
    const stolen = rig
      .upstream('corp')
      .answer(sentTo(await victim.get(victim.begin())), 'ada')
      .match(/code=([^&]+)/)?.[1];
    const page = attacker.begin();
    const state = new URL(sentTo(await attacker.get(page))).searchParams.get('state');
    await attacker.get(`/oauth/callback?code=${stolen}&state=${state}`);
    expect(rig.upstream('corp').exchanged).toEqual([]);
  });

  it.each([
    ['no state', 'code=x'],
    ['an unknown state', `code=x&state=${'a'.repeat(43)}`],
    ['a state that is no state', 'code=x&state=../../sign-in'],
    ['neither code nor error', 'state=STATE'],
    ['two states', 'code=x&state=STATE&state=other'],
    ['two codes', 'code=x&code=y&state=STATE'],
    ['a code and two errors', 'code=x&error=a&error=b&state=STATE'],
    ['a query of 1 MB', `state=STATE&code=${'x'.repeat(1_000_000)}`],
  ])('is refused with %s', async (_what, query) => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    const state = new URL(sentTo(await browser.get(page))).searchParams.get('state') ?? '';
    const answer = await browser.get(`/oauth/callback?${query.replace('STATE', state)}`);
    expect(answer).toMatchObject({ status: 400, location: undefined });
    expect(outcomeOf(rig, page)).toBeUndefined();
  });

  proves('choice.sign-in.browser-bound', 'comes too late after 10 minutes', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    const query = rig.upstream('corp').answer(sentTo(await browser.get(page)), 'ada');
    rig.clock.advance(10 * 60_000);
    expect((await browser.get(`/oauth/callback?${query}`)).status).toBe(400);
    expect((await browser.get(page)).status).toBe(303); // the sign-in itself continues
  });
});

describe('an authorization request', () => {
  it('has its page in the browser that began it only', async () => {
    const rig = signInRig();
    const [attacker, victim] = [rig.browser(), rig.browser()];
    const page = attacker.begin();
    const own = victim.begin();
    for (const answer of [await victim.get(page), await rig.browser().get(page)]) expect(answer.status).toBe(400);
    expect((await victim.get(own)).status).toBe(303);
  });

  it('cannot be completed as two people in two tabs', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    const tabs = [await browser.get(page), await browser.get(page)] as const;
    await answerAt(rig, browser, 'corp', tabs[0], 'ada');
    expect(await answerAt(rig, browser, 'corp', tabs[1], 'bob')).toMatchObject({ status: 409 });
    await browser.get(page);
    const outcome = outcomeOf(rig, page);
    const person = outcome !== undefined && 'login' in outcome ? outcome.login.person : '';
    expect(await rig.accounts.person(person)).toMatchObject({ name: 'ada' });
  });

  it('and another one in the next tab are completed each for itself', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const pages = [browser.begin(), browser.begin()];
    const interactions = pages.map((page) => page.split('/').at(-1) ?? '');
    const sent: FakeAnswer[] = [];
    for (const [index, page] of pages.entries()) {
      browser.jar.set('interaction', interactions[index] ?? '');
      sent.push(await browser.get(page));
    }
    for (const each of sent.toReversed()) expect((await answerAt(rig, browser, 'corp', each, 'ada')).status).toBe(303);
    for (const [index, page] of pages.entries()) {
      browser.jar.set('interaction', interactions[index] ?? '');
      await browser.get(page);
      expect(outcomeOf(rig, page)).toMatchObject({ login: {} });
    }
  });

  proves(
    'choice.sign-in.redirects',
    'is sent to providers at most 20 times, so that reloads do not fill the storage',
    async () => {
      const rig = signInRig();
      const browser = rig.browser();
      const page = browser.begin();
      const statuses: number[] = [];
      for (let count = 0; count < 30; count++) statuses.push((await browser.get(page)).status);
      expect(statuses).toEqual([...Array(20).fill(303), ...Array(10).fill(429)]);
    },
  );

  it('is not sent to providers more often by a browser that drops its cookie or changes the account', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    const statuses: number[] = [];
    for (let count = 0; count < 25; count++) {
      statuses.push((await browser.get(page)).status);
      for (const name of [...browser.jar.keys()]) if (name.startsWith('__Host-')) browser.jar.delete(name);
    }
    expect(statuses).toEqual([...Array(20).fill(303), ...Array(5).fill(429)]);
  });

  it('sets a cookie that scripts and other hosts cannot set or read, and not more than 20 of them', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const { headers } = await browser.get(browser.begin());
    expect([headers['set-cookie']].flat()[0]).toMatch(
      /^__Host-toolmgr-sign-in-[\w-]{16}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=3600$/,
    );
    const sizes: number[] = [];
    for (let count = 0; count < 60; count++) {
      await browser.get(browser.begin());
      sizes.push(browser.jar.size);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(22);
  });

  it('loses what a browser did when its cookie is gone', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    await answerAt(rig, browser, 'corp', await browser.get(page), 'ada');
    for (const name of [...browser.jar.keys()]) if (name !== 'interaction') browser.jar.delete(name);
    expect(sentTo(await browser.get(page))).toMatch(/^https:\/\/corp/);
    expect(outcomeOf(rig, page)).toBeUndefined();
  });
});

describe('consent', () => {
  proves(
    'choice.sign-in.consent-form',
    'is not given without the cookie of the browser that saw the page',
    async () => {
      const rig = signInRig();
      const { browser, page, shown } = await askedForConsent(rig);
      for (const name of [...browser.jar.keys()]) if (name.startsWith('__Host-')) browser.jar.delete(name);
      expect((await browser.press(shown, 'Allow')).status).toBe(403);
      expect(outcomeOf(rig, page)).toBeUndefined();
    },
  );

  proves('choice.sign-in.consent-form', 'is not given by a page whose cookie was replaced since', async () => {
    const rig = signInRig();
    const { browser, page, shown } = await askedForConsent(rig);
    const before = new Map(browser.jar);
    for (const name of before.keys()) if (name.startsWith('__Host-')) browser.jar.delete(name);
    await browser.get(page); // gets a new cookie
    for (const [name, value] of before) browser.jar.set(name, value);
    expect((await browser.press(shown, 'Allow')).status).toBe(403);
    expect(outcomeOf(rig, page)).toBeUndefined();
  });

  proves('choice.sign-in.consent-form', 'is not given with the cookie and the token of another browser', async () => {
    const rig = signInRig();
    const [victim, attacker] = [await askedForConsent(rig), await askedForConsent(rig)];
    const token = /name="csrf" value="([^"]*)"/.exec(attacker.shown.body)?.[1];
    expect((await victim.browser.press(victim.shown, 'Allow', { csrf: token })).status).toBe(403);
    for (const [name, value] of attacker.browser.jar)
      if (name.startsWith('__Host-')) victim.browser.jar.set(name, value);
    expect((await victim.browser.press(victim.shown, 'Allow', { csrf: token })).status).toBe(403);
    expect(outcomeOf(rig, victim.page)).toBeUndefined();
  });

  it.each([
    ['without a token', { csrf: undefined }],
    ['with an empty token', { csrf: '' }],
    ['with a long token', { csrf: 'x'.repeat(10_000) }],
  ])('is not given %s', async (_what, over) => {
    const rig = signInRig();
    const { browser, page, shown } = await askedForConsent(rig);
    expect((await browser.press(shown, 'Allow', over)).status).toBe(403);
    expect(outcomeOf(rig, page)).toBeUndefined();
  });

  it('is not given by GET, by other types of bodies, or by names of object members', async () => {
    const rig = signInRig();
    const { browser, page, shown } = await askedForConsent(rig);
    const csrf = /name="csrf" value="([^"]*)"/.exec(shown.body)?.[1] ?? '';
    expect((await browser.get(`${page}?choice=allow&csrf=${csrf}`)).status).toBe(200);
    expect((await browser.post(page, { choice: 'allow', csrf }, 'text/plain')).status).toBe(403);
    for (const choice of ['__proto__', 'constructor', 'toString', '']) {
      expect((await browser.post(page, { choice, csrf })).status).toBe(400);
    }
    expect((await browser.post(page, { choice: 'allow', csrf, more: 'x'.repeat(20_000) })).status).toBe(403);
    expect(outcomeOf(rig, page)).toBeUndefined();
  });

  it('does not replace a sign-in: an allowed request still passes a required provider whose connection is gone', async () => {
    const rig = signInRig();
    const { browser, person, page, shown } = await askedForConsent(rig);
    await rig.accounts.disconnect(person, 'corp', new AbortController().signal);
    expect(sentTo(await browser.press(shown, 'Allow'))).toMatch(/^https:\/\/corp/);
    expect(outcomeOf(rig, page)).toBeUndefined();
  });

  it('is not asked for, and connects no account, after another person signed in with the browser', async () => {
    const rig = signInRig({ upstreams: ['corp', 'github'] });
    const browser = rig.browser();
    const first = browser.begin();
    await answerAt(rig, browser, 'corp', await browser.get(first), 'ada');
    await answerAt(rig, browser, 'github', await browser.get(first), 'ada-at-github');
    await browser.get(first);
    const outcome = outcomeOf(rig, first);
    const ada = outcome !== undefined && 'login' in outcome ? outcome.login.person : '';
    const page = browser.begin({ needs: 'consent', person: ada });
    await rig.accounts.disconnect(ada, 'github', new AbortController().signal);
    const sent = await browser.get(page);
    const bob = await rig.accounts.personOf('corp', { subject: 'bob', isSynthetic: false, claims: {} });
    rig.interactions.sessions.set('session-of-bob', bob.id);
    browser.jar.set('session', 'session-of-bob');
    expect((await answerAt(rig, browser, 'github', sent, 'bob-at-github')).status).toBe(409);
    expect((await rig.accounts.connections(ada)).map(({ provider }) => provider)).toEqual(['corp']);
    expect((await browser.get(page)).status).toBe(400);
    expect(outcomeOf(rig, page)).toBeUndefined();
  });

  it('cannot be given while the person has not signed in', async () => {
    const rig = signInRig();
    const { browser, shown } = await askedForConsent(rig);
    const csrf = /name="csrf" value="([^"]*)"/.exec(shown.body)?.[1] ?? '';
    const login = browser.begin();
    await browser.get(login);
    expect((await browser.post(login, { choice: 'allow', csrf })).status).toBe(403);
    expect(outcomeOf(rig, login)).toBeUndefined();
  });
});

describe('a link to connect an account', () => {
  proves('choice.sign-in.connect-link', 'connects nothing in the browser of another person', async () => {
    const rig = signInRig();
    const attacker = await signedInBrowser(rig, 'mallory');
    const victim = await signedInBrowser(rig, 'ada');
    const link = rig.signIn.connectUrl(attacker.person, 'github');
    const told = await victim.browser.get(link);
    expect(told).toMatchObject({ status: 403, location: undefined });
    const own = await victim.browser.get(rig.signIn.connectUrl(victim.person, 'github'));
    const ticket = new URL(link).searchParams.get('ticket') ?? '';
    expect((await victim.browser.press(own, 'Connect github', { ticket })).status).toBe(403);
    expect(await rig.accounts.connections(attacker.person)).toHaveLength(1);
  });

  it('signs no one in for the sender when the browser of the other person is not signed in', async () => {
    const rig = signInRig();
    const attacker = await signedInBrowser(rig, 'mallory');
    const victim = rig.browser();
    const sent = await victim.get(rig.signIn.connectUrl(attacker.person, 'github'));
    expect(await answerAt(rig, victim, 'corp', sent, 'ada')).toMatchObject({ status: 403, location: undefined });
    expect(victim.jar.has('session')).toBe(false);
  });

  it('does not connect the account of a person whom the owner of the link sends to the provider', async () => {
    const rig = signInRig();
    const attacker = await signedInBrowser(rig, 'mallory');
    const victim = await signedInBrowser(rig, 'ada');
    const page = await attacker.browser.get(rig.signIn.connectUrl(attacker.person, 'github'));
    const query = rig.upstream('github').answer(sentTo(await attacker.browser.press(page, 'Connect github')), 'ada');
    expect((await victim.browser.get(`/oauth/callback?${query}`)).status).toBe(400);
    expect(await rig.accounts.connections(attacker.person)).toHaveLength(1);
    expect(await rig.accounts.connections(victim.person)).toHaveLength(1);
  });

  proves(
    'choice.sign-in.connect-link',
    'connects nothing by itself: a GET only asks, and the form needs its token',
    async () => {
      const rig = signInRig();
      const { browser, person } = await signedInBrowser(rig);
      const page = await browser.get(rig.signIn.connectUrl(person, 'github'));
      expect(page).toMatchObject({ status: 200, refresh: undefined });
      expect((await browser.press(page, 'Connect github', { csrf: 'x' })).status).toBe(403);
    },
  );

  proves(
    'choice.sign-in.connect-link',
    'is refused when it is changed, expired, or for an unknown provider',
    async () => {
      const rig = signInRig();
      const { browser, person } = await signedInBrowser(rig);
      const link = rig.signIn.connectUrl(person, 'github');
      const ticket = new URL(link).searchParams.get('ticket') ?? '';
      const [claims = '', signature = ''] = ticket.split('~');
      const changed = Buffer.from(claims, 'base64url').toString().replace('github', 'corp');
      const forged = [
        '',
        claims,
        `${claims}~`,
        `~${signature}`,
        `${Buffer.from(changed).toString('base64url')}~${signature}`,
        `${ticket}~x`,
        `${ticket}x`,
        'x'.repeat(100_000),
      ];
      for (const each of forged) {
        expect((await browser.get(`/oauth/connect?ticket=${encodeURIComponent(each)}`)).status).toBe(400);
      }
      expect((await browser.get(rig.signIn.connectUrl(person, 'unknown'))).status).toBe(400);
      rig.clock.advance(10 * 60_000);
      expect((await browser.get(link)).status).toBe(400);
    },
  );

  it('connects nothing when another person signed in with the browser meanwhile', async () => {
    const rig = signInRig();
    const { browser, person } = await signedInBrowser(rig);
    const other = await signedInBrowser(rig, 'bob');
    const sent = await browser.press(await browser.get(rig.signIn.connectUrl(person, 'github')), 'Connect github');
    browser.jar.set('session', other.browser.jar.get('session') ?? '');
    expect((await answerAt(rig, browser, 'github', sent, 'ada')).status).toBe(403);
    expect(await rig.accounts.connections(person)).toHaveLength(1);
    expect(await rig.accounts.connections(other.person)).toHaveLength(1);
  });

  it('does not replace who a person is: another account of the first provider is refused', async () => {
    const rig = signInRig();
    const { browser, person } = await signedInBrowser(rig);
    const sent = await browser.press(await browser.get(rig.signIn.connectUrl(person, 'corp')), 'Connect corp');
    expect((await answerAt(rig, browser, 'corp', sent, 'mallory')).status).toBe(403);
    expect((await rig.accounts.connections(person)).map(({ account }) => account)).toEqual(['ada']);
  });
});

describe('the page of connections', () => {
  it('changes nothing without the token of this browser and person', async () => {
    const rig = signInRig();
    const [ada, bob] = [await signedInBrowser(rig, 'ada'), await signedInBrowser(rig, 'bob')];
    const page = await ada.browser.get('/connections');
    const foreign = /name="csrf" value="([^"]*)"/.exec((await bob.browser.get('/connections')).body)?.[1];
    for (const csrf of [undefined, '', 'x', foreign]) {
      expect((await ada.browser.press(page, 'Disconnect corp', { csrf })).status).toBe(403);
    }
    for (const [name, value] of bob.browser.jar) if (name.startsWith('__Host-')) ada.browser.jar.set(name, value);
    expect((await ada.browser.press(page, 'Disconnect corp', { csrf: foreign })).status).toBe(403);
    expect(await rig.accounts.connections(ada.person)).toHaveLength(1);
  });

  it('ends no session of another person, and takes no other names of forms', async () => {
    const rig = signInRig();
    const { browser } = await signedInBrowser(rig);
    await rig.accounts.openSession({ id: 'of-bob', person: 'bob', clientId: 'c', startedMs: 1 }, 60_000);
    const page = await browser.get('/connections');
    await browser.press(page, 'Sign out of this browser', { do: 'end', session: 'of-bob' });
    expect(await rig.accounts.session('of-bob')).toBeDefined();
    for (const name of ['__proto__', 'constructor', 'sign-in', '']) {
      expect((await browser.press(page, 'Sign out of this browser', { do: name })).status).toBe(400);
    }
    expect((await browser.press(page, 'Disconnect corp', { provider: '../corp' })).status).toBe(400);
  });

  it('gives a new session at each sign-in, so that a planted one is of no use', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    browser.jar.set('session', 'planted');
    const sent = await browser.press(await browser.get('/connections'), 'Sign in with corp');
    await answerAt(rig, browser, 'corp', sent, 'ada');
    expect(browser.jar.get('session')).not.toBe('planted');
    const planted = rig.browser();
    planted.jar.set('session', 'planted');
    expect((await planted.get('/connections')).body).toContain('Sign in with corp');
  });

  it.each(['https://evil.example', '//evil.example', '__proto__', '<script>alert(1)</script>'])(
    'repeats nothing of its query and redirects nowhere: %s',
    async (text) => {
      const rig = signInRig();
      const { browser } = await signedInBrowser(rig);
      const value = encodeURIComponent(text);
      const page = await browser.get(`/connections?done=${value}&redirect=${value}&return_to=${value}`);
      expect(page.body).not.toMatch(/evil|<script|\[object/);
      expect((await browser.get(`/oauth/connect?connected=${value}`)).location).toBe('/connections');
    },
  );
});

describe('every page', () => {
  const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e{{7*7}}';

  /** One page of every kind, with hostile texts wherever a stranger has a say. */
  async function allPages() {
    const rig = signInRig();
    const client = { id: 'c', name: HOSTILE, uri: `https://x.example/${HOSTILE}`, isUnknown: true, hasSecret: false };
    const { browser, person, shown } = await askedForConsent(rig, { client, scopes: ['openid', HOSTILE] });
    await rig.accounts.openSession(
      { id: 's1', person, clientId: 'c', clientName: HOSTILE, startedMs: rig.clock.now() },
      60_000,
    );
    const link = rig.signIn.connectUrl(person, 'github');
    const ask = await browser.get(link);
    const sent = await browser.press(ask, 'Connect github');
    const back = await answerAt(rig, browser, 'github', sent, HOSTILE);
    const state = new URL(sentTo(await browser.press(ask, 'Connect github'))).searchParams.get('state');
    const refused = await browser.get(`/oauth/callback?error=${encodeURIComponent(HOSTILE)}&state=${state}`);
    rig.upstream('corp').failing = new DOMException(HOSTILE, 'TimeoutError');
    const away = await rig.browser();
    const pages = {
      consent: shown,
      ask,
      sent,
      refused,
      connected: await browser.get(back.location ?? ''),
      connections: await browser.get('/connections'),
      'signed out': await rig.browser().get('/connections'),
      expired: await browser.get(`/oauth/sign-in/${encodeURIComponent(HOSTILE)}`),
      away: await away.get(away.begin()),
      'allowed and returned': await browser.press(shown, 'Allow'),
    };
    return { rig, pages };
  }

  proves('choice.sign-in.pages', 'escapes hostile names of clients, accounts, scopes and errors', async () => {
    const { pages } = await allPages();
    for (const [name, { body }] of Object.entries(pages)) {
      expect(body, name).not.toMatch(/<img|<script|onerror=alert\(1\)>|\u202e/);
    }
    expect(pages.connections.body).toContain('&#60;img');
    expect(pages.refused.body).not.toContain('img');
  });

  proves(
    'choice.sign-in.pages',
    'is shown in no frame, loads nothing, is not cached and sends no referrer to others',
    async () => {
      const { pages } = await allPages();
      for (const [name, { headers, body }] of Object.entries(pages)) {
        expect(headers, name).toMatchObject({
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'same-origin',
        });
        expect(headers['content-security-policy'], name).toMatch(
          /default-src 'none'.*form-action 'self'; frame-ancestors 'none'; base-uri 'none'/,
        );
        expect(body, name).not.toMatch(/<[^>]* (?:src|style|on\w+)=|<link|<iframe|javascript:/);
      }
    },
  );

  it('has no token, code, verifier or cookie value', async () => {
    const { rig, pages } = await allPages();
    const secrets = /access\.(?:corp|github)|refresh\.(?:corp|github)|codeVerifier|key of a test/;
    for (const [name, { body, headers }] of Object.entries(pages)) {
      expect(`${body}${JSON.stringify(headers)}`, name).not.toMatch(secrets);
    }
    expect(JSON.stringify(rig.core.lines)).not.toMatch(secrets);
  });
});
