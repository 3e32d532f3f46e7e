import { afterAll, beforeAll, expect, it } from 'vitest';
import { inBrowser } from '../../../support/in-browser.ts';
import { type StartedPage, startPage } from '../../../support/manager-page.ts';

const TEST_MS = 120_000;
const RIGHT_TO_LEFT = '\u202e';

/** Texts that run when a page takes them for HTML, for a URL or for CSS. */
const ATTACKS = [
  '<script>window.attacked = 1</script>',
  '<img src=x onerror="window.attacked = 1">',
  '<svg/onload="window.attacked = 1">',
  'javascript:window.attacked=1',
  `${RIGHT_TO_LEFT}gnp.exe`,
  '"><style>*{display:none}</style>',
  '[click](javascript:window.attacked=1) ![x](https://evil.example/x.png)',
  `</pre></textarea></title><iframe srcdoc="<script>parent.attacked = 1</script>">`,
  '{{constructor.constructor("window.attacked = 1")()}}',
];
const LONG = 'x'.repeat(100_000);

const PLACES = [
  'workloads',
  'workloads/broken',
  'workloads/fetch?tab=logs',
  'workloads/fetch?tab=edit',
  'workloads/fetch?tab=export',
  'browse',
  'browse/io.example%2Fweather',
  'browse/%3Cimg%20src%3Dx%20onerror%3D%22window.attacked%3D1%22%3E',
  'clients',
  'secrets',
  'pins',
  'skills',
  'skills?tab=search',
  '%3Cscript%3Ewindow.attacked%3D1%3C%2Fscript%3E',
];

inBrowser('hostile texts on the page', { timeout: TEST_MS }, () => {
  let started: StartedPage;

  beforeAll(async () => {
    // all attacks in every field; some of them once with 100 KB
    started = await startPage((place) =>
      place === 'description' || place === 'log' ? `${ATTACKS.join(' ')} ${LONG}` : ATTACKS.join(' '),
    );
  }, TEST_MS);
  afterAll(() => started?.[Symbol.asyncDispose]());

  it.each(PLACES)('no script runs and no element is made from texts in %s', async (place) => {
    const { page, open, report } = started.opened;
    await open(place);
    await page.waitForTimeout(300);
    expect(await page.evaluate('window.attacked')).toBeUndefined();
    expect(await page.evaluate<number>(FOREIGN_ELEMENTS)).toBe(0);
    expect(await page.evaluate<string[]>(FOREIGN_LINKS)).toEqual([]);
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(overflow, 'the page is wider than the window').toBeLessThanOrEqual(0);
    expect(report).toEqual({ faults: [], foreign: [] });
  });

  it('no script runs from texts in dialogs, and a failure is shown as text', async () => {
    const { page, open, report } = started.opened;
    await open('clients');
    await page.getByRole('button', { name: 'Register cursor' }).click();
    await page.getByRole('dialog').getByText('<script>').first().waitFor();
    await page.keyboard.press('Escape');
    await open('workloads');
    await page.getByRole('button', { name: 'Upgrade fetch' }).click();
    await page.getByRole('dialog').getByText('<script>').first().waitFor();
    await page.keyboard.press('Escape');
    await open('pins');
    await page.getByRole('button', { name: /^Compare/ }).click();
    await page.getByRole('dialog').getByText('<script>').first().waitFor();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.keyboard.press('Escape');
    await open('skills?tab=search');
    await page.getByRole('button', { name: 'Read' }).first().click();
    await page.getByRole('dialog').getByText('<script>').first().waitFor();
    expect(await page.evaluate<number>(FOREIGN_ELEMENTS)).toBe(0);
    expect(await page.evaluate('window.attacked')).toBeUndefined();
    expect(report).toEqual({ faults: [], foreign: [] });
  });

  it('the policy refuses what a fault in the page would run', async () => {
    const { page } = started.opened;
    const refused = await page.evaluate<string[]>(`(() => {
      const tries = {
        html: () => { document.createElement('div').innerHTML = '<b>x</b>'; },
        script: () => { document.createElement('script').text = 'window.attacked = 1'; },
        eval: () => { (0, window.setTimeout)('window.attacked = 1'); },
      };
      return Object.entries(tries).flatMap(([name, run]) => { try { run(); return []; } catch { return [name]; } });
    })()`);
    expect(refused).toEqual(['html', 'script', 'eval']);
  });

  it('no other site can put the page in a frame', async () => {
    const answer = await fetch(`${started.manager.url}/`);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
  });
});

const FOREIGN_ELEMENTS = `document.querySelectorAll('#page script, #page style, #page img, #page svg, #page iframe').length`;
const FOREIGN_LINKS = `[...document.querySelectorAll('#page [href]')].map(({ href }) => href).filter((href) => !href.startsWith(location.origin) && !href.startsWith('https://github.com/'))`;
