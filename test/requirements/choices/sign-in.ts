import type { Section } from '../section.ts';

/** Decisions about the pages on which people sign in at the authorization server. */
export const signIn = [
  {
    source: 'choice: sign-in pages',
    says: {
      'choice.sign-in.first-names':
        'the first required provider names the person; the other ones are connected to this person',
      'choice.sign-in.browser-bound':
        'an answer of a provider is taken once, within 10 minutes, from the browser that was sent there',
      'choice.sign-in.mix-up':
        'the provider of an answer is that of the stored redirect, never one that the request names',
      'choice.sign-in.refused':
        'a provider that refuses ends the sign-in with access_denied and keeps what was connected before',
      'choice.sign-in.away':
        'a provider that is away leads to a page with a retry; cancelling gives the client temporarily_unavailable',
      'choice.sign-in.redirects': 'one sign-in is sent to providers at most 20 times',
      'choice.sign-in.consent':
        'consent is remembered for 90 days by person, client, redirect URI without a loopback port, resource and scopes',
      'choice.sign-in.unproven-clients':
        'consent is asked each time for clients without a secret whose code goes to a port of this machine or a scheme of its own',
      'choice.sign-in.asked-prompts':
        'prompt=consent asks for a consent that was given, prompt=login and max_age for a sign-in at the provider',
      'choice.sign-in.max-age':
        'max_age is sent to the provider, and an ID token whose auth_time is older is refused; one without auth_time is accepted',
      'choice.sign-in.consent-form': 'consent needs the cookie and the token of the browser that saw the page',
      'choice.sign-in.connect-link':
        'a link to connect an account works for its person only, for 10 minutes, after a confirmation',
      'choice.sign-in.connections':
        'the page of connections lists, connects and disconnects accounts and ends the sessions of clients',
      'choice.sign-in.pages': 'pages escape every text, have no scripts, load nothing and are shown in no frame',
    },
  },
] as const satisfies readonly Section[];
