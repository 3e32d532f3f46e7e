import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { freshPage, openBrowser } from './browser.ts';
import { type StartedManager, startManager } from './manager.ts';
import { type PageState, pageOperations } from './page-operations.ts';

/** Folder of the pictures that tests of the page make; `PAGE_PICTURES` names another one. */
export const PICTURES = process.env.PAGE_PICTURES ?? join(tmpdir(), 'toolmgr-page-pictures');

/** What a browser reported about a page while a test used it. */
export interface PageReport {
  /** Errors of scripts, messages of the console, breaches of the content security policy. */
  readonly faults: string[];
  /** Origins that the page asked, other than that of the manager. */
  readonly foreign: string[];
}

/** A page of a manager, signed in, and what the browser reports about it. */
export interface OpenPage {
  readonly page: Page;
  readonly report: PageReport;
  /** Opens a place such as `workloads/fetch?tab=logs`. */
  open(place: string): Promise<void>;
  picture(name: string): Promise<void>;
}

/** Places of the views with the workloads and entries of {@link pageOperations}, by name. */
export const VIEW_PLACES = {
  workloads: 'workloads',
  overview: 'workloads/fetch',
  logs: 'workloads/fetch?tab=logs',
  edit: 'workloads/fetch?tab=edit',
  configuration: 'workloads/fetch?tab=export',
  browse: 'browse',
  entry: 'browse/io.example%2Fweather',
  'run-an-image': 'browse?custom=yes',
  clients: 'clients',
  secrets: 'secrets',
  pins: 'pins',
  skills: 'skills',
  'skills-search': 'skills?tab=search',
  'skills-project': 'skills?tab=project',
};

/** A manager with the operations of {@link pageOperations}, its page in a browser, and the state that the operations change. */
export interface StartedPage extends AsyncDisposable {
  readonly manager: StartedManager;
  readonly browser: Browser;
  readonly opened: OpenPage;
  readonly state: PageState;
}

/** Starts a manager whose texts are `text(place)`, and opens its page. `prepare` changes the state before. */
export async function startPage(
  text: (place: string) => string,
  prepare: (state: PageState) => void = () => {},
): Promise<StartedPage> {
  const { operations, state } = pageOperations({ text });
  prepare(state);
  await using started = new AsyncDisposableStack();
  const manager = await startManager({ operations });
  started.defer(() => manager.stop());
  const browser = await openBrowser();
  started.defer(() => browser.close());
  const opened = await openManagerPage(manager, browser);
  const parts = started.move();
  return { manager, browser, opened, state, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Opens the page as the link of `toolmgr serve` does. */
export async function openManagerPage(
  manager: StartedManager,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const page = await freshPage(browser, {
    viewport: { width: 1200, height: 800 },
    reducedMotion: 'reduce', // axe would see colours of a dialog that appears
    ...options,
  });
  const report: PageReport = { faults: [], foreign: [] };
  page.on('pageerror', (error) => report.faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // an answer of the API that is no success is a line of the console too
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      report.faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    report.faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== manager.url) report.foreign.push(request.url());
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
  );
  const { body } = await manager.request('POST', '/api/v1beta/page/codes');
  await page.goto(`${manager.url}/#code=${body.code}`);
  await page.getByRole('navigation', { name: 'Views' }).waitFor();
  return {
    page,
    report,
    open: async (place) => {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    picture: async (name) => {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    },
  };
}

/** What axe finds on a page, one sentence for each rule with the first place. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(source);
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}
