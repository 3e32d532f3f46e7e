import type { Section } from '../section.ts';

/** What servers and clients that others wrote do, and the two eras of one server. */
export const foreign = [
  {
    source: 'choice: servers that others wrote',
    says: {
      'choice.definition.reserved-meta': '_meta of a definition stays as it is, keys with a reserved prefix too',
      'choice.bridge.legacy-to-legacy-structured':
        'structuredContent that is no object stays as it is between a legacy backend and a legacy client',
      'choice.legacy.level-first': 'a log level is taken by the backend before the next call of the session is sent',
      'choice.legacy.own-list-change':
        'a session of a backend that tells of changed lists is believed for its client, though its class sees no other list',
      'choice.legacy.message-after-answer': 'what comes on the stream of an answered call is told to no other call',
      'choice.legacy.elicitation-complete':
        'notifications/elicitation/complete outside a call reaches the legacy client of the session',
    },
  },
] as const satisfies readonly Section[];
