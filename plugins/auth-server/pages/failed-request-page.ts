import type { BrowserAnswer } from '../provider/interactions.ts';
import { html } from './html.ts';
import { problemPage } from './problem-page.ts';
import { hostOf } from './shown-text.ts';

/** The page of an authorization request that cannot be answered to its application. `code`: an OAuth error code. */
export function failedRequestPage(status: number, code?: string): BrowserAnswer {
  if (status === 429) return problemPage({ status, ...TOO_MANY });
  if (status === 503) return problemPage({ status, ...UNAVAILABLE });
  if (status >= 500) return problemPage({ status, ...FAILED });
  return problemPage({ status, ...(code === 'session_not_found' ? ENDED : invalid(code)) });
}

/** The page of a request that failed before a person did anything. `answer`: the application's URL on another site, with the error. */
export function refusedRequestPage(answer: string): BrowserAnswer {
  const { search, hash } = new URL(answer);
  const code = new URLSearchParams(search).get('error') ?? new URLSearchParams(hash.slice(1)).get('error');
  return problemPage({
    status: 400,
    ...invalid(code ?? undefined),
    more: html`<p>The application is at <strong><bdi>${hostOf(answer)}</bdi></strong>. Only if you know it:
<a href="${answer}">return to it</a>.</p>`,
  });
}

function invalid(code: string | undefined) {
  const named = code === undefined ? '' : ` Error code: ${code}.`;
  return {
    title: 'This sign-in cannot continue',
    what: `The application sent a request that this server does not accept.${named}`,
    next: 'Go back to the application and connect again. If this page returns, tell its developer the error code.',
  };
}

const ENDED = {
  title: 'This sign-in has ended',
  what: 'It took too long, was finished already, or was begun in another browser.',
  next: 'Go back to the application and connect again.',
};
const FAILED = {
  title: 'The sign-in failed',
  what: 'The server could not answer the request.',
  next: 'Go back to the application and try again. If this page returns, tell the administrator of this gateway.',
};
const UNAVAILABLE = {
  title: 'The sign-in is not available now',
  what: 'The server cannot reach its storage, or is not ready.',
  next: 'Wait a moment, then go back to the application and connect again.',
};
const TOO_MANY = {
  title: 'Too many requests',
  what: 'Your network sent too many sign-in requests in a short time.',
  next: 'Wait a minute, then go back to the application and connect again.',
};
