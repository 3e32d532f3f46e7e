import type { Section } from '../section.ts';

/** Decisions about requests to URLs that people or documents of others name. */
export const remote = [
  {
    source: 'choice: configured URLs',
    says: {
      'choice.remote.addresses':
        'a URL that leads to a loopback, private, link-local or other special address is refused unless its setting allows it, in every IPv4 and IPv6 form',
      'choice.remote.rebinding': 'the address is checked when it is connected to, for every address that a name has',
      'choice.remote.redirects': 'a redirect is never followed',
      'choice.remote.bounds': 'an answer has a time and a size, and is dropped when it exceeds one of them',
      'choice.remote.ca-bundle': 'a CA bundle replaces the roots of the system for its requests',
    },
  },
] as const satisfies readonly Section[];
