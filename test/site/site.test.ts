import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type BuiltSite, buildSite } from '../../scripts/site/build-site.ts';
import { serveSite } from '../../scripts/site/serve-site.ts';
import { browserMissing, freshPage, openBrowser } from '../support/browser.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const found = rig('site');
const missing = 'missing' in found ? found.missing : undefined;

describe.skipIf(missing !== undefined)(`the documentation site${missing === undefined ? '' : ` (${missing})`}`, () => {
  const folder = temporaryFolderOfFile('site-test');
  let site: BuiltSite;

  beforeAll(async () => {
    site = await buildSite(folder); // fails for a link to a page that does not exist
  }, 240_000);

  it('has every page, a page for unknown addresses, and the list for programs', () => {
    const files = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }));
    const absent = [...site.pages.keys()].filter((path) => !files.has(path.replace(/\.md$/, '.html')));
    expect(absent).toEqual([]);
    expect(files.has('404.html')).toBe(true);
    const listed = readFileSync(join(folder, 'llms.txt'), 'utf8');
    expect(
      [...site.pages.keys()].filter((path) => path !== 'index.md' && !listed.includes(path.replace(/\.md$/, '.html'))),
    ).toEqual([]);
  });

  it('names no other host in what a browser loads by itself', () => {
    const loaded = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
      const type = extname(path);
      if (type !== '.html' && type !== '.css') return [];
      const text = readFileSync(join(folder, path), 'utf8');
      const pattern =
        type === '.css'
          ? /url\(["']?(?:https?:)?\/\/[^)]*/g
          : /<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*/g;
      return (text.match(pattern) ?? []).map((one) => `${path}: ${one}`);
    });
    expect(loaded).toEqual([]);
  });

  describe.skipIf(browserMissing !== undefined)('in a browser', () => {
    it('finds pages by words, without a request to another host, on a phone too', async () => {
      const { url, server } = await serveSite(folder, 0);
      await using browser = await openBrowser();
      try {
        const page = await freshPage(browser, { viewport: { width: 1280, height: 900 } });
        const elsewhere: string[] = [];
        const faults: string[] = [];
        page.on('request', (request) => {
          if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url())) elsewhere.push(request.url());
        });
        page.on('pageerror', (error) => faults.push(error.message));
        await page.goto(url);
        await page.getByRole('button', { name: 'Search' }).first().click();
        await page.locator('#localsearch-input').fill('rate limit');
        await page.locator('.VPLocalSearchBox .result').first().waitFor();
        const results = await page.locator('.VPLocalSearchBox .result').allInnerTexts();
        expect(results.join('\n').toLowerCase()).toContain('limit');
        await page.locator('#localsearch-input').fill('audit_dropped'); // in the README of a plugin
        await page.locator('.VPLocalSearchBox .result[href*="plugins/audit.html"]').first().waitFor();
        await page.keyboard.press('Enter');
        await page.waitForURL((to) => to.pathname !== '/');
        expect(await page.locator('.vp-doc h1').count()).toBe(1);

        await page.setViewportSize({ width: 390, height: 844 });
        for (const path of ['index.html', 'reference/errors.html', 'guides/policy.html']) {
          await page.goto(`${url}${path}`);
          const wide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
          expect(wide, `${path} is wider than a phone`).toBe(false);
        }
        await page.emulateMedia({ colorScheme: 'dark' });
        await page.goto(`${url}index.html`);
        expect(await page.locator('html.dark').count()).toBe(1);

        const unknown = await page.goto(`${url}nothing.html`);
        expect(unknown?.status()).toBe(404);
        await page.getByText('PAGE NOT FOUND').waitFor();
        expect(elsewhere).toEqual([]);
        expect(faults).toEqual([]);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });
});
