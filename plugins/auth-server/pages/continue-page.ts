import type { BrowserAnswer } from '../provider/interactions.ts';
import { html } from './html.ts';
import { pageAnswer } from './page.ts';

/**
 * The answer to a form that leads to another site: a page that the browser leaves at once. Chromium refuses a redirect there,
 * because `form-action 'self'` applies to it too. The page stays when the other site is an application on this machine.
 */
export function continuePage(to: string, heading: string, cookies: readonly string[] = []): BrowserAnswer {
  const main = html`<h1>${heading}</h1>
<p>If this page stays, use the link or open the application. You may close the page then.</p>
<p><a href="${to}">Continue</a></p>`;
  return pageAnswer({ status: 200, title: heading, main, continueTo: to, cookies });
}
