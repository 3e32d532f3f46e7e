import { type Html, html } from '../pages/html.ts';
import type { Problem } from '../pages/problem-page.ts';

const START_AGAIN = 'Go back to your application and start the sign-in again.';
const NEW_LINK = 'Repeat in your application what you did: it gets a new link.';

/** Problems that the pages tell, with what the person may do next. No text of a request is in them. */
export const PROBLEMS = {
  /** Also without the cookies of the browser that began. */
  signInExpired: {
    status: 400,
    title: 'This sign-in is not open any more',
    what: 'It was completed, it took too long, or it was begun in another browser.',
    next: START_AGAIN,
  },
  answerInvalid: {
    status: 400,
    title: 'This answer belongs to no open sign-in',
    what: 'It was used already, it came too late, or it was begun in another browser.',
    next: START_AGAIN,
  },
  formInvalid: {
    status: 403,
    title: 'This form is not valid any more',
    what: 'The page was open for too long, or cookies are blocked in this browser. Nothing was changed.',
    next: START_AGAIN,
  },
  twoPeople: {
    status: 409,
    title: 'Two accounts were used at once',
    what: 'Another tab of this browser signed in with another account. Nothing was connected.',
    next: START_AGAIN,
  },
  tooMany: {
    status: 429,
    title: 'Too many attempts',
    what: 'This sign-in was sent to a provider too often.',
    next: START_AGAIN,
  },
  linkInvalid: {
    status: 400,
    title: 'This link is not valid any more',
    what: 'Links to connect an account are valid for 10 minutes.',
    next: NEW_LINK,
  },
  linkOfOther: {
    status: 403,
    title: 'This link belongs to another person',
    what: 'It was made for an account of this server that is not signed in with this browser. Nothing was connected.',
    next: 'If someone sent you the link, close this page. If it is yours, sign out on the page of your connections and open it again.',
  },
  notSignedIn: {
    status: 403,
    title: 'You are not signed in any more',
    what: 'The session of this browser ended before the account was connected. Nothing was connected.',
    next: 'Sign in again.',
  },
  otherIdentity: {
    status: 403,
    title: 'This is another account',
    what: 'You are signed in to this server with another account of this provider. Nothing was connected.',
    next: 'Sign out on the page of your connections, and sign in with this account.',
  },
  unknownForm: {
    status: 400,
    title: 'This form is not known here',
    what: 'The request is not one that the pages of this server send.',
    next: START_AGAIN,
  },
  broken: {
    status: 500,
    title: 'Something went wrong',
    what: 'The server could not complete this step. Its log has the reason.',
    next: START_AGAIN,
  },
  unavailable: {
    status: 503,
    title: 'The sign-in is not available now',
    what: 'A part of the server does not answer.',
    next: 'Try again in a moment.',
  },
} as const satisfies Readonly<Record<string, Problem>>;

/** A provider does not answer, or not as expected: the person may try again, or cancel by the form `more`. */
export function providerAway(provider: string, retry: string, more?: Html, cookies: readonly string[] = []): Problem {
  return {
    status: 503,
    title: `Signing in at ${provider} does not work now`,
    what: `The identity provider ${provider} gave no usable answer. What you connected before is kept.`,
    next: 'Try again in a moment. If it stays so, tell the operator of this server, whose log has the reason.',
    retry,
    cookies,
    ...(more === undefined ? {} : { more }),
  };
}

/** A provider refused to connect an account. */
export function providerRefused(provider: string, retry: string): Problem {
  return {
    status: 400,
    title: `${provider} is not connected`,
    what: `The identity provider ${provider} refused, or you cancelled there. Nothing was changed.`,
    next: 'You may try again or close this page.',
    retry,
  };
}

/** A problem with a link to the page of connections. */
export function withConnections(problem: Problem, connections: string): Problem {
  return { ...problem, more: html`<p><a href="${connections}">Your connections</a></p>` };
}

/** A form of a page that belongs to no authorization request. `retry`: the page, for a new form. */
export function formOutdated(retry: string): Problem {
  return { ...PROBLEMS.formInvalid, next: 'Open the page again.', retry };
}
