/** Providers that let a person choose an account and refuse `prompt=login`. */
const CHOOSERS: ReadonlySet<string> = new Set(['accounts.google.com', 'github.com']);

/**
 * An authorization URL for which the provider asks for the account again. A configured `prompt` is kept beside it; providers
 * of plain OAuth ignore it (RFC 6749 §3.1). Source: OpenID Connect Core §3.1.2.1.
 */
export function asksForAccount(authorizationUrl: string): string {
  const url = new URL(authorizationUrl);
  const configured = (url.searchParams.get('prompt') ?? '').split(' ').filter((each) => each !== '' && each !== 'none');
  const wanted = CHOOSERS.has(url.hostname) ? 'select_account' : 'login';
  url.searchParams.set('prompt', [...new Set([wanted, ...configured])].join(' '));
  return url.href;
}
