import type { Person } from '../accounts/accounts.ts';
import type { BrowserAnswer, Interaction } from '../provider/interactions.ts';
import { formOf } from './form.ts';
import { html } from './html.ts';
import { pageAnswer } from './page.ts';
import { hostOf, returnPlace, shownText } from './shown-text.ts';

/** What the consent page shows. */
export interface ConsentPage {
  readonly interaction: Interaction;
  readonly person: Person;
  /** Path that takes the choice: `allow`, `deny` or `other` in the field `choice`. */
  readonly action: string;
  readonly csrf: string;
  readonly cookies: readonly string[];
}

/** Asks whether an application that registered itself may act for the person. */
export function consentPage({ interaction, person, action, csrf, cookies }: ConsentPage): BrowserAnswer {
  const { client, redirectUri, resource, scopes } = interaction;
  const name = clientName(client.name);
  const identified = hostOf(client.id);
  const website = identified ?? hostOf(client.uri);
  const rows = [
    row('Signed in as', personName(person)),
    row('Application', `${name} (it gave this name itself)`),
    website && row('Its web site', `${website} ${identified === undefined ? '(not verified)' : '(verified)'}`),
    row('Answer goes to', returnPlace(redirectUri)),
    row('Server', shownText(resource, MAX_URL) ?? ''),
  ];
  const main = html`<h1>Allow <bdi>${name}</bdi> to act for you?</h1>
<div class="card"><dl>${rows.map((each) => each || undefined)}</dl></div>
<h2>It will be able to</h2>
<ul>${scopeSentences(scopes).map((sentence) => html`<li>${sentence}</li>`)}</ul>
<p class="note">Allow this only if you started this sign-in yourself, a moment ago, in an application that you trust.</p>
${formOf({
  action,
  csrf,
  buttons: [
    { name: 'choice', value: 'allow', label: 'Allow', kind: 'strong' },
    { name: 'choice', value: 'deny', label: 'Deny' },
  ],
})}
<h2>Not you?</h2>
${formOf({ action, csrf, buttons: [{ name: 'choice', value: 'other', label: 'Use another account' }] })}`;
  return pageAnswer({ status: 200, title: `Allow ${name}?`, main, cookies });
}

/** Name of a client for a page. */
export function clientName(name: string | undefined): string {
  return shownText(name) ?? 'An application without a name';
}

/** Name and email of a person for a page. */
export function personName({ name, email }: Person): string {
  const [shownName, shownEmail] = [shownText(name), shownText(email, MAX_EMAIL)];
  if (shownName === undefined) return shownEmail ?? 'a person without a name';
  return shownEmail === undefined ? shownName : `${shownName} (${shownEmail})`;
}

const MAX_URL = 300;
const MAX_EMAIL = 254; // RFC 5321 §4.5.3.1.3

function row(term: string, value: string) {
  return html`<dt>${term}</dt><dd><bdi>${value}</bdi></dd>`;
}

const SCOPES: Readonly<Record<string, string>> = {
  openid: 'recognise you by an id',
  profile: 'read your name',
  email: 'read your email address',
  offline_access: 'do this also later, until you end its session on the page of your connections',
};

function scopeSentences(scopes: readonly string[]): readonly string[] {
  const own = scopes.filter((scope) => SCOPES[scope] === undefined).slice(0, MAX_SCOPES);
  return [
    'use the tools of this server in your name, with the accounts that you connected',
    ...scopes.flatMap((scope) => SCOPES[scope] ?? []),
    ...own.map((scope) => `use the scope ${shownText(scope)}`),
  ];
}

const MAX_SCOPES = 50;
