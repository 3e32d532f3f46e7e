import { signal } from '@preact/signals';

const STORED = 'toolmgr-token';

/**
 * The bearer token. It is kept for this tab only (`sessionStorage`), so that a reload keeps it; closing the tab forgets it.
 * It is sent to this origin only, in a header, never in a URL.
 */
export const token = signal(sessionStorage.getItem(STORED) ?? '');

/** Set when the host wants a token: there is none, or it was refused. */
export const needsSignIn = signal(false);

/** Set when the host refused a code or a token. */
export const wasRefused = signal(false);

/**
 * Signs in with the code of a link, `#code=…`. The code is removed from the address and from the history at once, and is
 * exchanged for a token once.
 */
export async function signInFromAddress(): Promise<void> {
  const code = /^#code=([^&]+)/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, '', `${location.pathname}#/`);
  const answer = await fetch('/api/v1beta/page/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: decodeURIComponent(code) }),
  });
  if (answer.ok) signIn(((await answer.json()) as { readonly token: string }).token);
  else wasRefused.value = true;
}

/** Uses a token from now on. */
export function signIn(given: string): void {
  token.value = given.trim();
  sessionStorage.setItem(STORED, token.value);
  needsSignIn.value = false;
  wasRefused.value = false;
}

/** Forgets a token that the host refused. */
export function refuseToken(): void {
  if (token.value !== '') wasRefused.value = true;
  signOut();
}

/** Forgets the token. */
export function signOut(): void {
  token.value = '';
  sessionStorage.removeItem(STORED);
  needsSignIn.value = true;
}
