import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's package `chromium`; `CHROMIUM` names another program. */
const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why tests with a real browser are skipped; `undefined` when they can run, and in CI, where they fail instead. */
export const browserMissing: string | undefined =
  existsSync(PROGRAM) || process.env.CI
    ? undefined
    : `no ${PROGRAM} on this machine (Debian: apt-get install chromium)`;

/** Starts a headless browser: `await using browser = await openBrowser()`. Containers of CI have no sandbox for it. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    timeout: START_MS,
  });
}

/**
 * Opens a page without cookies of other pages. Closing its context forgets them.
 * `timeoutMs` of every action: generous, because machines of tests are busy.
 */
export async function freshPage(
  browser: Browser,
  options: BrowserContextOptions = {},
  timeoutMs = ACTION_MS,
): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(timeoutMs);
  return context.newPage();
}

const START_MS = 60_000;
const ACTION_MS = 30_000;
