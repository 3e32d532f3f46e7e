import { GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { UpstreamRefusal } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { proves } from '../../../support/proves.ts';
import { signInRig } from '../../../support/sign-in-rig.ts';
import { answerAt, askedForConsent, outcomeOf, signedInBrowser, signInAtCorp } from '../../../support/sign-in-steps.ts';

describe('the chain of providers', () => {
  proves(
    ['vmcp.authentication.upstream-drive', 'vmcp.surface.oauth-callback'],
    'a sign-in passes all required providers in their order before it is finished, and no on-demand one',
    async () => {
      const rig = signInRig({ upstreams: ['corp', 'github?', 'jira'] });
      const browser = rig.browser();
      const page = browser.begin();
      const first = await browser.get(page);
      expect(first).toMatchObject({ status: 303, location: expect.stringMatching(/^https:\/\/corp\.example\//) });
      const back = await answerAt(rig, browser, 'corp', first, 'ada');
      expect(back).toMatchObject({ status: 303, location: page });
      const second = await browser.get(page);
      expect(second.location).toMatch(/^https:\/\/jira\.example\//);
      await answerAt(rig, browser, 'jira', second, 'ada-at-jira');
      expect(outcomeOf(rig, page)).toBeUndefined();
      const last = await browser.get(page);
      expect(last.location).toMatch(/^\/oauth\/authorize\//);
      const outcome = outcomeOf(rig, page);
      const person = outcome !== undefined && 'login' in outcome ? outcome.login.person : '';
      expect(await rig.accounts.person(person)).toMatchObject({ name: 'ada' });
      const connections = await rig.accounts.connections(person);
      expect(connections.map(({ provider, account }) => [provider, account])).toEqual([
        ['corp', 'ada'],
        ['jira', 'ada-at-jira'],
      ]);
    },
  );

  it('skips a required provider that the person connected before, and names the same person again', async () => {
    const rig = signInRig({ upstreams: ['corp', 'jira'] });
    const browser = rig.browser();
    const page = browser.begin();
    await answerAt(rig, browser, 'corp', await browser.get(page), 'ada');
    await answerAt(rig, browser, 'jira', await browser.get(page), 'ada-at-jira');
    await browser.get(page);
    const other = rig.browser();
    const person = await signInAtCorp(rig, other);
    expect(outcomeOf(rig, page)).toEqual({ login: { person } });
    expect(rig.upstream('jira').exchanged).toEqual(['ada-at-jira']);
  });

  proves(
    'choice.sign-in.first-names',
    'names the person by the first required provider, also when an on-demand one comes before it',
    async () => {
      const rig = signInRig({ upstreams: ['github?', 'corp', 'jira'] });
      const browser = rig.browser();
      const page = browser.begin();
      await answerAt(rig, browser, 'corp', await browser.get(page), 'ada');
      await answerAt(rig, browser, 'jira', await browser.get(page), 'ada-at-jira');
      await browser.get(page);
      const again = rig.browser();
      const person = await signInAtCorp(rig, again);
      expect(outcomeOf(rig, page)).toEqual({ login: { person } });
    },
  );

  it('names the person by the first provider when all are on demand', async () => {
    const rig = signInRig({ upstreams: ['corp?', 'github?'] });
    expect(await signInAtCorp(rig, rig.browser())).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('asks no provider while the browser is signed in and the required connections are usable', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const person = await signInAtCorp(rig, browser);
    const page = browser.begin({ needs: 'consent', person });
    expect((await browser.get(page)).body).toContain('Allow <bdi>Claude</bdi>');
  });

  it('asks a required provider again when its connection is not usable any more, although the browser is signed in', async () => {
    const rig = signInRig({ upstreams: ['corp', 'jira'] });
    const browser = rig.browser();
    const first = browser.begin();
    await answerAt(rig, browser, 'corp', await browser.get(first), 'ada');
    await answerAt(rig, browser, 'jira', await browser.get(first), 'ada');
    await browser.get(first);
    const outcome = outcomeOf(rig, first);
    const person = outcome !== undefined && 'login' in outcome ? outcome.login.person : '';
    await rig.accounts.disconnect(person, 'jira', new AbortController().signal);
    const page = browser.begin({ needs: 'consent', person });
    const sent = await browser.get(page);
    expect(sent.location).toMatch(/^https:\/\/jira\.example\//);
    await answerAt(rig, browser, 'jira', sent, 'ada');
    expect((await browser.get(page)).body).toContain('Allow <bdi>Claude</bdi>');
  });

  proves(
    'choice.sign-in.refused',
    'ends with access_denied when a required provider refuses, and keeps what was connected before',
    async () => {
      const rig = signInRig({ upstreams: ['corp', 'jira'] });
      const browser = rig.browser();
      const page = browser.begin();
      await answerAt(rig, browser, 'corp', await browser.get(page), 'ada');
      const sent = await browser.get(page);
      const state = new URL(sent.location ?? '').searchParams.get('state');
      const text = 'secret-of-the-provider <script>';
      const back = await browser.get(
        `/oauth/callback?error=server_error&error_description=${encodeURIComponent(text)}&state=${state}`,
      );
      expect(back.location).toBe(page);
      await browser.get(page);
      expect(outcomeOf(rig, page)).toEqual({
        error: 'access_denied',
        description: 'an identity provider refused the sign-in',
      });
      expect(rig.reports.at(-1)).toMatchObject({ change: 'sign_in', outcome: 'denied', upstream: 'jira' });
      const again = rig.browser();
      const retry = again.begin();
      await answerAt(rig, again, 'corp', await again.get(retry), 'ada');
      const { location = '' } = await again.get(retry);
      expect(location).toMatch(/^https:\/\/jira/); // the person is known, and jira is still missing
    },
  );
});

it.each([
  ['invalid_response', 'warn', { cause: 'upstream corp: its ID token has an unexpected algorithm (invalid_response)' }],
  ['access_denied', 'info', {}],
])('a refusal with %s is logged as %s, with the cause when the operator may have to act', async (code, level, more) => {
  const rig = signInRig();
  const browser = rig.browser();
  const page = browser.begin();
  rig.upstream('corp').failing = new UpstreamRefusal('corp', code, 'its ID token has an unexpected algorithm');
  await browser.get(page);
  expect(rig.core.lines).toEqual([expect.objectContaining({ level, fields: { code, ...more } })]);
});

describe('a provider that is away', () => {
  const away = new GatewayFault('REMOTE_UNAVAILABLE', 'corp: no answer within 10 s, canary-of-a-log');

  proves('choice.sign-in.away', 'leads to a page with a link to try again, which works when it is back', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    rig.upstream('corp').failing = away;
    const told = await browser.get(page);
    expect(told.status).toBe(503);
    expect(told.body).toContain('Signing in at corp does not work now');
    expect(told.body).toContain(`href="${page}"`);
    expect(told.body).not.toContain('canary');
    rig.upstream('corp').failing = undefined;
    expect((await browser.get(page)).location).toMatch(/^https:\/\/corp/);
  });

  proves('choice.sign-in.away', 'can be cancelled: the client gets temporarily_unavailable', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    rig.upstream('corp').failing = away;
    const answer = await browser.press(await browser.get(page), 'Cancel the sign-in');
    expect(answer.refresh).toMatch(/^\/oauth\/authorize\//);
    expect(outcomeOf(rig, page)).toMatchObject({ error: 'temporarily_unavailable' });
  });

  it('may fail in the exchange too: the sign-in stays open', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const page = browser.begin();
    const sent = await browser.get(page);
    rig.upstream('corp').failing = away;
    const told = await answerAt(rig, browser, 'corp', sent, 'ada');
    expect(told).toMatchObject({ status: 503 });
    rig.upstream('corp').failing = undefined;
    await answerAt(rig, browser, 'corp', await browser.get(page), 'ada');
    await browser.get(page);
    expect(outcomeOf(rig, page)).toMatchObject({ login: {} });
  });

  it('shows a page without details when the storage is away', async () => {
    let isAway = false;
    const rig = signInRig({
      storage: (inner) => ({
        ...inner,
        async get(key) {
          if (isAway) throw new GatewayFault('STORE_UNAVAILABLE', 'redis://canary:6379 does not answer');
          return inner.get(key);
        },
      }),
    });
    const browser = rig.browser();
    const page = browser.begin();
    isAway = true;
    const told = await browser.get(page);
    expect(told.status).toBe(503);
    expect(told.body).not.toContain('canary');
    isAway = false;
    expect((await browser.get(page)).status).toBe(303);
  });
});

describe('consent', () => {
  proves('choice.sign-in.consent', 'is asked once for a person, client, redirect URI and its scopes', async () => {
    const rig = signInRig();
    const { browser, person, page, shown } = await askedForConsent(rig);
    const answer = await browser.press(shown, 'Allow');
    expect(answer.refresh).toMatch(/^\/oauth\/authorize\//);
    expect(outcomeOf(rig, page)).toEqual({ consent: true });
    const client = { id: 'client-2', name: 'Other', uri: undefined, isUnknown: true, hasSecret: false };
    const isAsked = async (over: object): Promise<boolean> => {
      const next = browser.begin({ needs: 'consent', person, ...over });
      return (await browser.get(next)).status === 200;
    };
    expect(await isAsked({})).toBe(false);
    expect(await isAsked({ scopes: ['openid'] })).toBe(false);
    expect(await isAsked({ redirectUri: 'https://claude.example/other' })).toBe(true);
    expect(await isAsked({ redirectUri: 'https://evil.example/callback' })).toBe(true);
    expect(await isAsked({ scopes: ['openid', 'offline_access', 'email'] })).toBe(true);
    expect(await isAsked({ client })).toBe(true);
    expect(await isAsked({ asksConsent: true })).toBe(true);
    rig.clock.advance(91 * 86_400_000);
    await signInAtCorp(rig, browser);
    expect(await isAsked({})).toBe(true);
  });

  proves(
    'choice.sign-in.unproven-clients',
    'is asked each time for a client whose identity nothing proves',
    async () => {
      for (const redirectUri of [
        'http://127.0.0.1:4321/callback',
        'http://localhost/',
        'https://localhost:1/',
        'claude://callback',
      ]) {
        const rig = signInRig();
        const { browser, person, page, shown } = await askedForConsent(rig, { redirectUri });
        await browser.press(shown, 'Allow');
        expect(outcomeOf(rig, page)).toEqual({ consent: true });
        const next = await browser.get(browser.begin({ needs: 'consent', person, redirectUri }));
        expect([redirectUri, next.status]).toEqual([redirectUri, 200]);
      }
      const rig = signInRig();
      const client = { id: 'client-3', name: 'Secret', uri: undefined, isUnknown: true, hasSecret: true };
      const [first, other] = ['http://127.0.0.1:4321/callback', 'http://127.0.0.1:9/callback'];
      const { browser, person, shown } = await askedForConsent(rig, { client, redirectUri: first });
      await browser.press(shown, 'Allow');
      // the port changes each time (RFC 8252 §7.3), and only the client has the secret that its code needs
      expect((await browser.get(browser.begin({ needs: 'consent', person, client, redirectUri: other }))).status).toBe(
        303,
      );
    },
  );

  proves(
    'choice.sign-in.asked-prompts',
    'of prompt=consent is asked although it was given, also for a configured client',
    async () => {
      const rig = signInRig();
      const client = { id: 'configured', name: 'Configured', uri: undefined, isUnknown: false, hasSecret: false };
      const { browser, page, shown } = await askedForConsent(rig, { client, asksConsent: true });
      expect(shown.status).toBe(200);
      await browser.press(shown, 'Allow');
      expect(outcomeOf(rig, page)).toEqual({ consent: true });
    },
  );

  proves(
    'choice.sign-in.asked-prompts',
    'waits for a new sign-in at the provider with prompt=login or max_age',
    async () => {
      const rig = signInRig();
      const browser = rig.browser();
      const promptOf = async (asksLogin: boolean) => {
        const { location = '' } = await browser.get(browser.begin({ asksLogin }));
        return new URL(location).searchParams.get('prompt');
      };
      expect([await promptOf(false), await promptOf(true)]).toEqual([null, 'login']);
    },
  );

  proves('choice.sign-in.max-age', 'binds the redirect to the age that the client allows', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const ageOf = async (more: object) => {
      const { location = '' } = await browser.get(browser.begin(more));
      const leg = await rig.storage.get(`pending:${new URL(location).searchParams.get('state')}`);
      return (leg?.value as { maxAgeS?: number }).maxAgeS;
    };
    expect(await ageOf({ asksLogin: true, maxAgeS: 60 })).toBe(60);
    expect(await ageOf({ asksLogin: true })).toBeUndefined();
  });

  it('is not asked for clients of the configuration', async () => {
    const rig = signInRig();
    const client = { id: 'configured', name: 'Configured', uri: undefined, isUnknown: false, hasSecret: false };
    const { page } = await askedForConsent(rig, { client });
    expect(outcomeOf(rig, page)).toEqual({ consent: true });
  });

  it('is given once when its button is pressed twice', async () => {
    const rig = signInRig();
    const { browser, page, shown } = await askedForConsent(rig);
    const answers = [await browser.press(shown, 'Allow'), await browser.press(shown, 'Allow')];
    expect(answers.map(({ refresh }) => refresh)).toEqual(
      Array(2).fill(expect.stringMatching(/^\/oauth\/authorize\//)),
    );
    expect(outcomeOf(rig, page)).toEqual({ consent: true });
  });

  it('can be denied, and is asked again the next time', async () => {
    const rig = signInRig();
    const { browser, person, page, shown } = await askedForConsent(rig);
    await browser.press(shown, 'Deny');
    expect(outcomeOf(rig, page)).toMatchObject({ error: 'access_denied' });
    expect((await browser.get(browser.begin({ needs: 'consent', person }))).status).toBe(200);
  });

  it('lets the person use another account, at which the provider asks again', async () => {
    const rig = signInRig();
    const { browser, person, page, shown } = await askedForConsent(rig);
    const sent = await browser.press(shown, 'Use another account');
    expect(new URL(sent.refresh ?? '').searchParams.get('prompt')).toBe('login');
    await answerAt(rig, browser, 'corp', sent, 'bob');
    await browser.get(page);
    const outcome = outcomeOf(rig, page);
    expect(outcome).toMatchObject({ login: {} });
    expect(outcome).not.toEqual({ login: { person } });
  });
});

describe('connecting later', () => {
  proves('choice.sign-in.connect-link', 'connects one provider by a link, after the person confirmed it', async () => {
    const rig = signInRig();
    const { browser, person } = await signedInBrowser(rig);
    const link = rig.signIn.connectUrl(person, 'github');
    expect(link).toMatch(/^https:\/\/gateway\.example\/oauth\/connect\?ticket=[\w~-]+$/);
    const page = await browser.get(link);
    expect(page.body).toContain('ada');
    const sent = await browser.press(page, 'Connect github');
    const back = await answerAt(rig, browser, 'github', sent, 'ada-at-github');
    expect((await browser.get(back.location ?? '')).body).toContain('github is connected');
    expect((await rig.accounts.connections(person)).map(({ provider }) => provider)).toEqual(['corp', 'github']);
  });

  it('signs in first when the browser is not signed in', async () => {
    const rig = signInRig();
    const { person } = await signedInBrowser(rig);
    const browser = rig.browser();
    const link = rig.signIn.connectUrl(person, 'github');
    const back = await answerAt(rig, browser, 'corp', await browser.get(link), 'ada');
    expect(back.location).toBe(link.slice('https://gateway.example'.length));
    expect((await browser.get(back.location ?? '')).body).toContain('Connect github?');
  });

  it('says that nothing changed when the provider refuses', async () => {
    const rig = signInRig();
    const { browser, person } = await signedInBrowser(rig);
    const sent = await browser.press(await browser.get(rig.signIn.connectUrl(person, 'github')), 'Connect github');
    const state = new URL(sent.refresh ?? '').searchParams.get('state');
    const told = await browser.get(`/oauth/callback?error=access_denied&state=${state}`);
    expect(told.body).toContain('github is not connected');
    expect(await rig.accounts.connections(person)).toHaveLength(1);
  });
});

it('warns when a provider redirects to a host that does not get the cookies of the pages', () => {
  const rig = signInRig({
    callbackUrls: ['https://other.example/oauth/callback', 'https://gateway.example/mcp/oauth/callback'],
  });
  expect(rig.core.lines).toEqual([
    expect.objectContaining({ level: 'warn', fields: { redirectUri: 'https://other.example/oauth/callback' } }),
  ]);
});

it('serves the redirect URIs of providers also without the path of the issuer, which a proxy may remove', () => {
  const { routes } = signInRig({
    issuer: 'https://gateway.example/team',
    callbackUrls: ['https://gateway.example/team/mcp/oauth/callback', 'https://gateway.example/teams/callback'],
  });
  for (const path of ['/team/mcp/oauth/callback', '/mcp/oauth/callback', '/teams/callback']) {
    expect(routes.at('GET', path)).toBeDefined();
  }
  expect(routes.at('GET', 's/callback')).toBeUndefined();
});

describe('the page of connections', () => {
  it('lets a person sign in at the first provider', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    const sent = await browser.press(await browser.get('/connections'), 'Sign in with corp');
    const back = await answerAt(rig, browser, 'corp', sent, 'ada');
    expect((await browser.get(back.location ?? '')).body).toContain('Signed in as <strong><bdi>ada</bdi>');
  });

  proves(
    'choice.sign-in.connections',
    'lists all providers with account, state and end, and disconnects one',
    async () => {
      const rig = signInRig();
      const { browser, person } = await signedInBrowser(rig);
      const page = await browser.get('/connections');
      expect(page.body).toMatch(/<h3>github<\/h3><p>Not connected\.<\/p>/);
      expect(page.body).toContain('The access is renewed by itself');
      const sent = await browser.press(page, 'Connect github');
      const back = await answerAt(rig, browser, 'github', sent, 'ada-at-github');
      const connected = await browser.get(back.location ?? '');
      expect(connected.body).toContain('ada-at-github');
      expect(connected.body).toContain('The account is connected.');
      const gone = await browser.press(connected, 'Disconnect github');
      expect((await browser.get(gone.location ?? '')).body).toContain('The account is disconnected.');
      expect((await rig.accounts.connections(person)).map(({ provider }) => provider)).toEqual(['corp']);
      expect(rig.reports.slice(-2)).toMatchObject([
        { change: 'account_connected', person, upstream: 'github' },
        { change: 'account_disconnected', person, upstream: 'github' },
      ]);
    },
  );

  proves('choice.sign-in.connections', 'ends the session of an application, which has to ask again', async () => {
    const rig = signInRig();
    const { browser, person } = await signedInBrowser(rig);
    const shown = await browser.get(browser.begin({ needs: 'consent', person }));
    await browser.press(shown, 'Allow');
    const session = { person, startedMs: rig.clock.now() };
    await rig.accounts.openSession({ ...session, id: 's1', clientId: 'client-1', clientName: 'Claude' }, 60_000);
    await rig.accounts.openSession({ ...session, id: 's2', clientId: 'client-9' }, 60_000);
    const page = await browser.get('/connections');
    await browser.press(page, 'End the session of Claude');
    expect((await rig.accounts.sessions(person)).map(({ id }) => id)).toEqual(['s2']);
    expect((await browser.get(browser.begin({ needs: 'consent', person }))).status).toBe(200);
  });

  it('reports a consent that the person denied', async () => {
    const rig = signInRig();
    const { browser, person } = await signedInBrowser(rig);
    await browser.press(await browser.get(browser.begin({ needs: 'consent', person })), 'Deny');
    expect(rig.reports.at(-1)).toMatchObject({ change: 'consent', outcome: 'denied', person });
  });

  it('lets a person sign in again whose record is gone', async () => {
    const rig = signInRig();
    const browser = rig.browser();
    rig.interactions.sessions.set('of-a-lost-person', 'lost');
    browser.jar.set('session', 'of-a-lost-person');
    const sent = await browser.press(await browser.get('/connections'), 'Sign in with corp');
    expect(sent.refresh).toMatch(/^https:\/\/corp/);
  });

  it('has a link to a new page when a form is too old', async () => {
    const rig = signInRig();
    const { browser } = await signedInBrowser(rig);
    const page = await browser.get('/connections');
    browser.jar.delete('session');
    const told = await browser.press(page, 'Disconnect corp');
    expect(told).toMatchObject({ status: 403, body: expect.stringContaining('href="/connections">Try again') });
  });

  it('signs out of the browser', async () => {
    const rig = signInRig();
    const { browser } = await signedInBrowser(rig);
    const out = await browser.press(await browser.get('/connections'), 'Sign out of this browser');
    const page = await browser.get(out.location ?? '');
    expect(page.body).toContain('You are signed out of this browser.');
    expect(page.body).toContain('Sign in with corp');
  });
});
