import type { Connection, Person, Session } from '../accounts/accounts.ts';
import type { BrowserAnswer } from '../provider/interactions.ts';
import { clientName, personName } from './consent-page.ts';
import { type Button, formOf } from './form.ts';
import { type Html, html } from './html.ts';
import { pageAnswer } from './page.ts';
import { shownText } from './shown-text.ts';

/** What the page of a person's connections shows. */
export interface ConnectionsPage {
  readonly person: Person;
  /** All providers of the configuration, in its order. */
  readonly providers: readonly string[];
  readonly connections: readonly Connection[];
  readonly sessions: readonly Session[];
  readonly action: string;
  readonly csrf: string;
  /** What the last form did. */
  readonly done?: string | undefined;
  readonly cookies: readonly string[];
}

/** Shows what a person connected and which applications act for them. */
export function connectionsPage(page: ConnectionsPage): BrowserAnswer {
  const { person, providers, connections, sessions, action, csrf, done, cookies } = page;
  const form = (hidden: Readonly<Record<string, string>>, button: Omit<Button, 'name'>): Html =>
    formOf({ action, csrf, hidden, buttons: [{ name: 'do', ...button }] });
  const main = html`<h1>Your connections</h1>
${done === undefined ? undefined : html`<p class="note" role="status">${done}</p>`}
<p>Signed in as <strong><bdi>${personName(person)}</bdi></strong>.</p>
${form({}, { value: 'sign-out', label: 'Sign out of this browser' })}
<h2>Accounts</h2>
<ul class="list">
${providers.map((provider) => accountItem(provider, connectionOf(connections, provider), form))}
</ul>
<h2>Applications that act for you</h2>
${sessions.length === 0 ? html`<p>None.</p>` : undefined}
<ul class="list">
${[...sessions]
  .sort((one, other) => other.startedMs - one.startedMs)
  .slice(0, MAX_SESSIONS)
  .map((session, index) => sessionItem(session, `since-${index}`, form))}
</ul>
${sessions.length > MAX_SESSIONS ? html`<p>The ${String(MAX_SESSIONS)} newest of ${String(sessions.length)} are shown.</p>` : undefined}`;
  return pageAnswer({ status: 200, title: 'Your connections', main, cookies });
}

const MAX_SESSIONS = 200;

type FormWith = (hidden: Readonly<Record<string, string>>, button: Omit<Button, 'name'>) => Html;

function connectionOf(connections: readonly Connection[], provider: string): Connection | undefined {
  return connections.find((each) => each.provider === provider);
}

function accountItem(provider: string, connection: Connection | undefined, form: FormWith): Html {
  const connect = form({ provider }, { value: 'connect', label: `Connect ${provider}`, kind: 'strong' });
  if (connection === undefined) {
    return html`<li class="card"><h3>${provider}</h3><p>Not connected.</p>${connect}</li>`;
  }
  const disconnect = form({ provider }, { value: 'disconnect', label: `Disconnect ${provider}`, kind: 'danger' });
  return html`<li class="card"><h3>${provider}</h3>
<dl>
<dt>Account</dt><dd><bdi>${shownText(connection.account) ?? 'unknown'}</bdi></dd>
<dt>State</dt><dd>${stateOf(connection)}</dd>
<dt>Connected</dt><dd>${time(connection.connectedMs)}</dd>
${connection.expiresMs === undefined ? undefined : html`<dt>Access until</dt><dd>${time(connection.expiresMs)}</dd>`}
</dl>
<div class="choices">${connection.isUsable ? undefined : connect}${disconnect}</div></li>`;
}

function stateOf({ isUsable, isRefreshable }: Connection): string {
  if (!isUsable) return 'Expired. Connect it again.';
  return isRefreshable ? 'Connected. The access is renewed by itself.' : 'Connected.';
}

function sessionItem({ id, clientName: name, startedMs }: Session, sinceId: string, form: FormWith): Html {
  const shown = clientName(name);
  return html`<li class="card"><h3><bdi>${shown}</bdi></h3>
<p id="${sinceId}">Since ${time(startedMs)}</p>
${form({ session: id }, { value: 'end', label: `End the session of ${shown}`, kind: 'danger', describedBy: sinceId })}</li>`;
}

function time(ms: number): Html {
  const text = new Date(ms).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Asks a person without a browser session to sign in. */
export function signInPage(page: {
  readonly provider: string;
  readonly action: string;
  readonly csrf: string;
  readonly done?: string | undefined;
  readonly cookies: readonly string[];
}): BrowserAnswer {
  const { provider, action, csrf, done, cookies } = page;
  const main = html`<h1>Your connections</h1>
${done === undefined ? undefined : html`<p class="note" role="status">${done}</p>`}
<p>Sign in to see which accounts you connected and which applications act for you.</p>
${formOf({
  action,
  csrf,
  buttons: [
    { name: 'do', value: 'sign-in', label: `Sign in with ${provider}`, kind: 'strong' },
    { name: 'do', value: 'sign-in-other', label: 'Use another account' },
  ],
})}`;
  return pageAnswer({ status: 200, title: 'Your connections', main, cookies });
}
