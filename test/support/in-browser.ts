import { describe } from 'vitest';
import { browserMissing } from './browser.ts';

/** Declares tests that need a real browser; without one they are skipped, with the reason in the title. */
export function inBrowser(title: string, options: { readonly timeout: number }, tests: () => void): void {
  const reason = browserMissing === undefined ? '' : ` (skipped: ${browserMissing})`;
  describe.skipIf(browserMissing !== undefined)(`${title}${reason}`, options, tests);
}
