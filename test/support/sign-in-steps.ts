import type { FakeAnswer, FakeBrowser, FakeInteraction, signInRig } from './sign-in-rig.ts';

export type SignInRig = ReturnType<typeof signInRig>;

/** Plays the person at a provider and returns to the gateway. */
export function answerAt(
  rig: SignInRig,
  browser: FakeBrowser,
  provider: string,
  sent: FakeAnswer,
  account: string,
): Promise<FakeAnswer> {
  const query = rig.upstream(provider).answer(sent.location ?? sent.refresh ?? '', account);
  return browser.get(`/oauth/callback?${query}`);
}

/** How the authorization request of a page ended; `undefined` while it is open. */
export function outcomeOf(rig: SignInRig, page: string): FakeInteraction['outcome'] {
  return rig.interactions.open.get(page.split('/').at(-1) ?? '')?.outcome;
}

/** Signs in at `corp`, which is the only required provider. Returns the person. */
export async function signInAtCorp(rig: SignInRig, browser: FakeBrowser, account = 'ada'): Promise<string> {
  const page = browser.begin();
  await answerAt(rig, browser, 'corp', await browser.get(page), account);
  await browser.get(page);
  const outcome = outcomeOf(rig, page);
  if (outcome === undefined || !('login' in outcome)) throw new Error(`no login: ${JSON.stringify(outcome)}`);
  return outcome.login.person;
}

/** A browser in which a person signed in at `corp`. */
export async function signedInBrowser(
  rig: SignInRig,
  account = 'ada',
): Promise<{ readonly browser: FakeBrowser; readonly person: string }> {
  const browser = rig.browser();
  return { browser, person: await signInAtCorp(rig, browser, account) };
}

/** The consent page of an authorization request in the browser of a signed-in person. */
export async function askedForConsent(rig: SignInRig, over: Partial<FakeInteraction> = {}) {
  const { browser, person } = await signedInBrowser(rig);
  const page = browser.begin({ needs: 'consent', person, ...over });
  return { browser, person, page, shown: await browser.get(page) };
}
