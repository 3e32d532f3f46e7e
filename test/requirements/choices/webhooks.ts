import type { Section } from '../section.ts';

/** Decisions about webhooks. */
export const webhooks = [
  {
    source: 'choice: webhooks',
    says: {
      'choice.webhooks.verdicts': 'the result of a webhook is treated as the table of the run reference §8.6 says',
      'choice.webhooks.payload': 'the payload has the fields of the run reference §8.5 and never a token',
      'choice.webhooks.signature':
        'requests are signed by HMAC-SHA256 over Unix seconds, a dot and the body; a secret in a file may change at any time',
      'choice.webhooks.replay': 'a receiver that checks the signature and the time refuses a repeated request',
      'choice.webhooks.patch-scope':
        'a patch changes params of the call only; members that it does not name keep their bytes',
      'choice.webhooks.rename-decided-again': 'a call that a webhook renames is looked up and authorized again',
      'choice.webhooks.every-call':
        'webhooks see the calls of every transport, subscriptions, and inner calls of composite tools and dispatchers',
      'choice.webhooks.answer-limits': 'a slow, dead, oversized, redirecting or malformed answer counts as no answer',
      'choice.webhooks.no-delay':
        'a webhook that hangs delays a call by its timeout at most, and calls of others not at all; requests to it are bounded',
      'choice.webhooks.tls':
        'certificates of the server and of the client are checked; http needs insecure_skip_verify',
      'choice.webhooks.addresses':
        'loopback is allowed where the URL names it, private addresses with allow_private_ip',
      'choice.webhooks.config': 'invalid settings are refused with their path before anything starts',
    },
  },
] as const satisfies readonly Section[];
