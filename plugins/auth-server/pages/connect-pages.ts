import type { Person } from '../accounts/accounts.ts';
import type { BrowserAnswer } from '../provider/interactions.ts';
import { personName } from './consent-page.ts';
import { formOf } from './form.ts';
import { html } from './html.ts';
import { pageAnswer } from './page.ts';

/** Asks before a browser is sent to a provider, so that no link alone connects an account. */
export function connectPage(page: {
  readonly provider: string;
  readonly person: Person;
  readonly action: string;
  readonly csrf: string;
  readonly ticket: string;
  readonly cookies: readonly string[];
}): BrowserAnswer {
  const { provider, person, action, csrf, ticket, cookies } = page;
  const title = `Connect ${provider}?`;
  const main = html`<h1>${title}</h1>
<p>You are signed in as <strong><bdi>${personName(person)}</bdi></strong>. The account that you choose at ${provider} next is
used for this person's calls.</p>
<p class="note">If this is not you, close this page.</p>
${formOf({ action, csrf, hidden: { ticket }, buttons: [{ name: 'do', value: 'connect', label: `Connect ${provider}`, kind: 'strong' }] })}`;
  return pageAnswer({ status: 200, title, main, cookies });
}

/** The account is connected. */
export function connectedPage(provider: string, connections: string, cookies: readonly string[]): BrowserAnswer {
  const title = `${provider} is connected`;
  const main = html`<h1>${title}</h1>
<p>Return to your application and repeat what you did. You may close this page.</p>
<p><a href="${connections}">Your connections</a></p>`;
  return pageAnswer({ status: 200, title, main, cookies });
}
