import { afterAll, beforeAll, expect, it } from 'vitest';
import { inBrowser } from '../../../support/in-browser.ts';
import { axeFindings, type StartedPage, startPage, VIEW_PLACES } from '../../../support/manager-page.ts';

const READY_MS = 1_000;
const TEST_MS = 120_000;

inBrowser('the views of the page in a real browser', { timeout: TEST_MS }, () => {
  let started: StartedPage;

  beforeAll(async () => {
    started = await startPage((place) => place);
  }, TEST_MS);
  afterAll(() => started?.[Symbol.asyncDispose]());

  it('signs in with the code of the link, once, and removes it from the address and the history', async () => {
    const { page } = started.opened;
    expect(page.url()).toBe(`${started.manager.url}/#/`);
    expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
    const token = await page.evaluate<string>(`sessionStorage.getItem('toolmgr-token')`);
    expect(token).toMatch(/^page\./);
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(token);
    expect(await page.context().cookies()).toEqual([]);
  });

  it('a used code or a wrong token leads to the sign-in, which takes the token of the file', async () => {
    const { body } = await started.manager.request('POST', '/api/v1beta/page/codes');
    const other = await started.browser.newContext();
    const page = await other.newPage();
    await page.goto(`${started.manager.url}/#code=wrong`);
    await page.getByText('was used already').waitFor();
    await page.getByLabel('Token').fill('nonsense');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Token').fill(started.manager.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Workloads' }).waitFor();
    expect(body.code).toMatch(/./);
    await other.close();
  });

  it('is ready in under a second, and nothing moves while it loads', async () => {
    const { page } = started.opened;
    const times: number[] = [];
    // the fastest counts: the machine of the test has other work
    for (let round = 0; round < 3 || (Math.min(...times) >= READY_MS && round < 15); round += 1) {
      await page.reload();
      await page.getByRole('link', { name: 'fetch' }).waitFor();
      const { ready, shift } = await page.evaluate<{ ready: number; shift: number }>(MEASURE);
      times.push(ready);
      expect(shift).toBeLessThan(0.02);
    }
    expect(Math.min(...times)).toBeLessThan(READY_MS);
  });

  it.each(Object.entries(VIEW_PLACES))(
    'axe finds nothing in %s: light and dark, wide and narrow',
    async (name, place) => {
      const { page, open, picture } = started.opened;
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const [size, width] of [
          ['wide', 1200],
          ['narrow', 400],
        ] as const) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          await open(place);
          await page.waitForTimeout(150);
          await picture(`${name}-${size}-${colorScheme}`);
          expect(await axeFindings(page), `${name} ${size} ${colorScheme}`).toEqual([]);
          const overflow = await page.evaluate<number>(
            'document.documentElement.scrollWidth - document.documentElement.clientWidth',
          );
          expect(overflow, `${name} ${size} is wider than the window`).toBeLessThanOrEqual(0);
        }
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1200, height: 800 });
    },
  );

  it('shows states as they change, follows long work, and asks before it removes', async () => {
    const { page, open } = started.opened;
    await open('workloads');
    const row = page.getByRole('row', { name: /github/ });
    await row.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('region', { name: 'Work in progress' }).getByText('works on github').waitFor();
    await row.getByText('running').waitFor();
    await page.getByRole('log', { name: 'Messages' }).getByText('Start github: done').waitFor();
    const broken = page.getByRole('row', { name: /broken/ });
    await broken.getByRole('button', { name: 'Remove' }).click();
    const question = page.getByRole('dialog', { name: 'Remove broken?' });
    await question.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(started.state.workloads.has('broken')).toBe(true);
    await broken.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await broken.waitFor({ state: 'detached' });
  });

  it('runs a server of the registry: a form from its inputs, a new secret that is stored first', async () => {
    const { page, open } = started.opened;
    await open('browse/io.example%2Fweather');
    await page.getByLabel('UNITS').selectOption('imperial');
    await page.getByLabel('Stored secret').selectOption('New value…');
    await page.getByLabel('New value').fill('s3cret');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('heading', { name: 'weather' }).waitFor();
    expect(started.state.secrets.get('weather-API_KEY')).toBe('s3cret');
    expect(started.state.bodies.findLast(({ id }) => id === 'createWorkload')?.body).toEqual({
      name: 'weather',
      registry: 'default',
      server: 'io.example/weather',
      env_vars: { UNITS: 'imperial' },
      secrets: [{ name: 'weather-API_KEY', target: 'API_KEY' }],
    });
  });

  it('upgrades a workload: new variables are asked for, and a new secret is stored before it is referred to', async () => {
    const { page, open } = started.opened;
    await open('workloads');
    await page.getByRole('button', { name: 'Upgrade fetch' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('ghcr.io/example/fetch:1.1.0').waitFor();
    await dialog.getByLabel('Stored secret').selectOption('New value…');
    await dialog.getByLabel('New value').fill('fresh');
    await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click();
    await page.getByText('fetch is upgraded').waitFor();
    expect(started.state.secrets.get('fetch-NEW_TOKEN')).toBe('fresh');
    expect(started.state.bodies.findLast(({ id }) => id === 'applyUpgrade')?.body).toEqual({
      env: {},
      secrets: ['fetch-NEW_TOKEN,target=NEW_TOKEN'],
    });
  });

  it('shows what the host refuses at the field it is about', async () => {
    const { page, open } = started.opened;
    await open('browse?custom=yes');
    await page.getByLabel('Name', { exact: true }).first().fill('fetch');
    await page.getByRole('button', { name: 'Run' }).click();
    const field = page.getByLabel('Name', { exact: true }).first();
    await page.getByText('it is taken').first().waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await page.waitForFunction(`document.activeElement?.id === '${await field.getAttribute('id')}'`); // after the next frame
  });

  it('edits a workload: what was read and not changed is sent back', async () => {
    const { page, open } = started.opened;
    await open('workloads/fetch?tab=edit');
    await page.getByLabel('Command arguments').fill('--verbose\n--level=2');
    await page.getByRole('button', { name: 'Save and restart' }).click();
    await page.getByText('fetch is updated').waitFor();
    expect(started.state.bodies.findLast(({ id }) => id === 'updateWorkload')?.body).toEqual({
      name: 'fetch',
      image: 'ghcr.io/example/fetch:1.0.0',
      cmd_arguments: ['--verbose', '--level=2'],
      env_vars: { LEVEL: 'value' },
      secrets: [{ name: 'stored-token', target: 'TOKEN' }],
      tools: [],
      network_isolation: true,
    });
  });

  it('follows a log and filters it', async () => {
    const { page, open } = started.opened;
    await open('workloads/fetch?tab=logs');
    const log = page.getByRole('log', { name: 'Log of fetch' });
    await log.getByText('line 40').waitFor();
    await page.getByLabel('Filter').fill('line 7');
    await page.getByText('1 lines').waitFor();
    expect(await log.textContent()).toContain('line 7 log');
  });

  it('registers a client, and takes a secret through its life', async () => {
    const { page, open } = started.opened;
    await open('clients');
    await page.getByRole('button', { name: 'Register cursor' }).click();
    await page.getByRole('dialog').getByLabel('default').uncheck();
    await page.getByRole('dialog').getByLabel('work').check();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('dialog').getByText('/home/ann/path').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Register' }).click();
    await page.getByRole('button', { name: 'Unregister cursor' }).waitFor();
    expect(started.state.bodies.findLast(({ id }) => id === 'registerClient')?.body).toEqual({
      name: 'cursor',
      groups: ['work'],
    });

    await open('secrets');
    await page.getByRole('button', { name: 'Add a secret' }).click();
    await page.getByLabel('Name').fill('db');
    await page.getByLabel('Value').fill('first');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByRole('button', { name: 'Rotate db' }).click();
    await page.getByLabel('New value').fill('second');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await expect.poll(() => started.state.secrets.get('db')).toBe('second');
    expect(await page.content()).not.toContain('second');
    await page.getByRole('button', { name: 'Delete db' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => started.state.secrets.has('db')).toBe(false);
  });

  it('works with the keyboard alone: to a view, into a dialog and back to its button', async () => {
    const { page, open } = started.opened;
    await open('workloads');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate<string>(`document.activeElement?.textContent?.trim() ?? ''`);
    const tabTo = async (text: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        if ((await focused()).startsWith(text)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`no Tab leads to ${text}`);
    };
    await tabTo('Secrets');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Secrets' }).waitFor();
    await tabTo('Add a secret');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(focused).toBe('Add a secret'); // the focus returns after the dialog is gone
  });

  it('keeps the chosen theme', async () => {
    const { page, open } = started.opened;
    await open('workloads');
    await page.getByLabel('Theme').selectOption('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Workloads' }).waitFor();
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(18, 21, 26)');
    await page.getByLabel('Theme').selectOption('system');
  });

  it('leads a person who has no workload by the hand', async () => {
    const { page, open, picture } = started.opened;
    const kept = new Map(started.state.workloads);
    started.state.workloads.clear();
    await open('browse');
    await open('workloads');
    await page.getByRole('link', { name: 'Find a server' }).waitFor();
    await picture('first-steps');
    expect(await axeFindings(page)).toEqual([]);
    for (const [name, workload] of kept) started.state.workloads.set(name, workload);
  });

  it('asked no other host, and broke no policy', () => {
    expect(started.opened.report).toEqual({ faults: [], foreign: [] });
  });
});

/** When the document and the last file of the page were there, in milliseconds, and the sum of the layout shifts. */
const MEASURE = `(async () => {
  const shift = await new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) sum += value;
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(sum), 200);
  });
  const [navigation] = performance.getEntriesByType('navigation');
  const files = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'));
  return { shift, ready: Math.max(navigation.domInteractive, ...files.map(({ responseEnd }) => responseEnd)) };
})()`;
