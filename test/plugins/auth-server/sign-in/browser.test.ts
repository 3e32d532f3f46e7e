import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callerOf } from '../../../support/accounts.ts';
import { claimsOf } from '../../../support/auth-server-rig.ts';
import { browserMissing, freshPage, openBrowser } from '../../../support/browser.ts';
import { type SignInServer, signInServer } from '../../../support/sign-in-providers.ts';

const MS = 120_000;
/** Set it to a folder to look at the pages. */
const SCREENSHOTS = process.env.SCREENSHOTS;

describe.skipIf(browserMissing)(
  `signing in with Chromium${browserMissing ? ` (skipped: ${browserMissing})` : ''}`,
  () => {
    let browser: Browser;
    let test: SignInServer;
    let client: Awaited<ReturnType<typeof openClient>>;

    beforeAll(async () => {
      [browser, test, client] = await Promise.all([
        openBrowser(),
        // another site than the providers, so that cookies cross sites as they do on the web
        signInServer({ host: 'localhost', provider: { asksForUser: true } }),
        openClient(),
      ]);
    }, MS);
    afterAll(async () => {
      await browser?.close();
      await test?.[Symbol.asyncDispose]();
      client?.server.close();
    });

    /** Opens the authorization request of a new client. */
    async function begin(page: Page, metadata = {}) {
      const { rig } = test;
      const redirect = `${client.origin}/callback`;
      const id = await rig.register({ client_name: 'Claude', redirect_uris: [redirect], ...metadata });
      const attempt = rig.begin(id, { redirect_uri: redirect });
      await page.goto(attempt.url);
      return { ...attempt, redirect };
    }

    async function logInAtProvider(page: Page, user: string): Promise<void> {
      await page.waitForURL(`${test.corp.issuer}/**`);
      await page.getByLabel('User').fill(user);
      await page.getByRole('button', { name: 'Log in' }).click();
    }

    it(
      'logs in at one provider, asks for consent, and connects the other one later',
      async () => {
        const page = await freshPage(browser);
        const attempt = await begin(page);
        await logInAtProvider(page, 'ada');
        await page.getByRole('heading', { name: 'Allow Claude to act for you?' }).waitFor();
        await picture(page, 'consent-light');
        await page.getByRole('button', { name: 'Allow', exact: true }).dblclick();
        await page.getByText('the client got its answer').waitFor();
        const code = new URL(page.url()).searchParams.get('code') ?? '';
        const { body } = await attempt.exchange(code, { redirect_uri: attempt.redirect });
        const claims = claimsOf(body.access_token ?? '');
        expect(claims).toMatchObject({ name: 'Ada' });

        const { upstreamTokens, accounts } = test.rig.server;
        const caller = callerOf(String(claims.sub), String(claims.tsid), {}, test.rig.issuer);
        const wait = AbortSignal.timeout(MS);
        const missing = await upstreamTokens.obtain(caller, 'github', wait).catch((cause: unknown) => cause);
        expect(missing).toMatchObject({ code: 'USER_ACTION_REQUIRED' });
        await page.goto((missing as { readonly url: string }).url);
        await picture(page, 'connect');
        await page.getByRole('button', { name: 'Connect github' }).click();
        await page.getByLabel('User').fill('bob');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('heading', { name: 'github is connected' }).waitFor();
        expect((await upstreamTokens.obtain(caller, 'github', wait)).accessToken.reveal()).toMatch(/^\S+$/);

        await page.getByRole('link', { name: 'Your connections' }).click();
        await picture(page, 'connections');
        await page.getByRole('button', { name: 'Disconnect github' }).click();
        await page.getByText('The account is disconnected.').waitFor();
        expect((await accounts.connections(String(claims.sub))).map(({ provider }) => provider)).toEqual(['corp']);
        await page.getByRole('button', { name: 'End the session of Claude' }).click();
        await page.getByText('The session is ended.').waitFor();
        const refreshed = await test.rig.token({
          grant_type: 'refresh_token',
          client_id: String(claims.client_id),
          refresh_token: body.refresh_token ?? '',
        });
        expect(refreshed.body.error).toBe('invalid_grant');
        await page.context().close();
      },
      MS,
    );

    it(
      'works with the keyboard alone, and tells a denial to the client',
      async () => {
        const page = await freshPage(browser, { colorScheme: 'dark' });
        await begin(page);
        await page.waitForURL(`${test.corp.issuer}/**`);
        await page.keyboard.press('Tab');
        await page.keyboard.type('bob');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: /^Allow Claude/ }).waitFor();
        const focused: unknown[] = [];
        for (let count = 0; count < 3; count++) {
          await page.keyboard.press('Tab');
          focused.push(await page.evaluate('document.activeElement.textContent'));
          expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
        }
        expect(focused).toEqual(['Allow', 'Deny', 'Use another account']);
        await picture(page, 'consent-dark');
        await page.keyboard.press('Shift+Tab');
        await page.keyboard.press('Enter');
        await page.getByText('the client got its answer').waitFor();
        expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
        await page.context().close();
      },
      MS,
    );

    it(
      'signs in as another person after "Use another account"',
      async () => {
        const page = await freshPage(browser);
        const attempt = await begin(page);
        await logInAtProvider(page, 'ada');
        await page.getByRole('heading', { name: /^Allow Claude/ }).waitFor();
        await page.context().clearCookies({ domain: '127.0.0.1' }); // this provider cannot change the account of a session
        await page.getByRole('button', { name: 'Use another account' }).click();
        await logInAtProvider(page, 'bob');
        await page.getByText('Bob').waitFor();
        await page.getByRole('button', { name: 'Allow', exact: true }).click();
        await page.getByText('the client got its answer').waitFor();
        const code = new URL(page.url()).searchParams.get('code') ?? '';
        const { body } = await attempt.exchange(code, { redirect_uri: attempt.redirect });
        expect(claimsOf(body.access_token ?? '')).toMatchObject({ name: 'Bob' });
        await page.context().close();
      },
      MS,
    );

    it(
      'shows no script and loads nothing of a hostile client, and opens applications by their own schemes',
      async () => {
        const page = await freshPage(browser);
        const requests: string[] = [];
        const problems: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        page.on('console', (message) => problems.push(message.text()));
        page.on('dialog', (dialog) => void problems.push(dialog.message()));
        const redirect = 'cursor://anysphere.cursor-mcp/oauth/callback';
        const hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
        const id = await test.rig.register({ client_name: hostile, redirect_uris: [redirect] });
        await page.goto(test.rig.begin(id, { redirect_uri: redirect }).url);
        await logInAtProvider(page, 'ada');
        await page.getByRole('heading', { name: `Allow ${hostile} to act for you?` }).waitFor();
        requests.length = 0;
        const opened = page.waitForRequest((request) => request.url().startsWith('cursor://'));
        await page.getByRole('button', { name: 'Allow', exact: true }).click();
        expect(new URL((await opened).url()).searchParams.has('code')).toBe(true);
        expect(requests.filter((url) => !url.startsWith(test.rig.http.origin) && !url.startsWith('cursor:'))).toEqual(
          [],
        );
        expect(problems).toEqual([]);
        await page.context().close();
      },
      MS,
    );

    it(
      'has names for all controls, one main heading and a language on each page',
      async () => {
        const page = await freshPage(browser);
        await begin(page);
        await logInAtProvider(page, 'ada');
        await page.getByRole('heading', { level: 1 }).waitFor();
        const consent = page.url();
        for (const url of [
          consent,
          `${test.rig.http.origin}/connections`,
          `${test.rig.http.origin}/oauth/connect?ticket=x`,
        ]) {
          await page.goto(url);
          expect(await page.locator('html').getAttribute('lang')).toBe('en');
          expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
          expect(await page.getByRole('main').count()).toBe(1);
          expect(await page.title()).not.toBe('');
          const names = await page.getByRole('button').allInnerTexts();
          expect(new Set(names).size).toBe(names.length);
          expect(names).not.toContain('');
          const heights = await page
            .getByRole('button')
            .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
          for (const height of heights) expect(height).toBeGreaterThanOrEqual(44);
          await page.setViewportSize({ width: 320, height: 640 }); // WCAG 2.2, reflow
          const isCut = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          expect(isCut, url).toBe(false);
        }
        await page.context().close();
      },
      MS,
    );

    it(
      'is refused inside a frame of another page',
      async () => {
        const page = await freshPage(browser);
        await page.goto(client.origin);
        await page.setContent(`<iframe src="${test.rig.http.origin}/connections"></iframe>`);
        const frame = await (await page.locator('iframe').elementHandle())?.contentFrame();
        await frame?.waitForLoadState();
        expect(await frame?.content()).not.toContain('Your connections');
        await page.context().close();
      },
      MS,
    );
  },
);

/** A client that takes its answer on this machine. */
async function openClient(): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>the client got its answer</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
