import type { BrowserAnswer } from '../provider/interactions.ts';
import { type Html, html } from './html.ts';
import { pageAnswer } from './page.ts';

/** A page that says what went wrong and what the person may do. It repeats nothing of the request. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly what: string;
  readonly next: string;
  /** A page that tries the same once more. */
  readonly retry?: string;
  /** A form, e.g. to cancel, or a link. */
  readonly more?: Html;
  readonly cookies?: readonly string[];
}

/** Makes the page of a problem. */
export function problemPage({ status, title, what, next, retry, more, cookies = [] }: Problem): BrowserAnswer {
  const link = retry === undefined ? undefined : html`<p><a class="button strong" href="${retry}">Try again</a></p>`;
  const main = html`<h1>${title}</h1>
<div role="alert"><p>${what}</p></div>
<p>${next}</p>
${link}
${more}`;
  return pageAnswer({ status, title, main, cookies });
}
