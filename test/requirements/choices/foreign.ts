import type { Section } from '../section.ts';

/** What servers and clients that others wrote do, and the two eras of one server. */
export const foreign = [
  {
    source: 'choice: servers that others wrote',
    says: {
      'choice.definition.reserved-meta': '_meta of a definition stays as it is, keys with a reserved prefix too',
      'choice.bridge.legacy-to-legacy-structured':
        'structuredContent that is no object stays as it is between a legacy backend and a legacy client',
      'choice.backend.list-bounds':
        'a list of a backend has at most listItems elements and resultBytes bytes or an eighth of the memory budget, all its pages together; what is skipped is one line a page',
      'choice.backend.question-floods':
        'a backend has at most 64 requests to clients answered at once, and one question of an id open; what is more is refused or left out',
      'choice.backend.content-coding':
        'answers of HTTP backends in gzip, br and deflate are decoded, as JSON and as events',
      'choice.backend.content-coding-bounded': 'resultBytes and frameBytes bound what a compressed answer decodes to',
      'choice.backend.lenient-id': 'an id that a backend sends back as text counts as the number that it was',
      'choice.backend.lenient-body':
        'a byte order mark, an event that is no JSON, and values nested up to 1000 levels do not spoil an answer',
      'choice.backend.error-members':
        'members of an error object that JSON-RPC does not define reach the other side as they were sent',
      'choice.backend.error-members-bounded':
        'an error that is larger than resultBytes, or not UTF-8, is refused like such a result',
      'choice.backend.jsonrpc': 'an answer that does not say "jsonrpc":"2.0" is refused',
      'choice.legacy.level-first': 'a log level is taken by the backend before the next call of the session is sent',
      'choice.legacy.own-list-change':
        'a session of a backend that tells of changed lists is believed for its client, though its class sees no other list',
      'choice.legacy.message-after-answer': 'what comes on the stream of an answered call is told to no other call',
      'choice.legacy.elicitation-complete':
        'notifications/elicitation/complete outside a call reaches the legacy client of the session',
      'choice.bridge.question-of-its-call':
        'a question of a legacy stdio or SSE backend reaches the modern call that it is about, whatever else is in flight',
      'choice.bridge.legacy-question-any-call':
        'a question that may be about any of several calls reaches a legacy client without a GET stream on one of them',
      'choice.bridge.log-of-its-call':
        'a log message of a legacy stdio or SSE backend reaches the modern call that it is about',
      'choice.bridge.no-stranger': 'no call waits for the answer to a question that another call is asked',
      'choice.bridge.own-sessions-pooled': 'a session that a call had alone serves the calls after it',
      'choice.bridge.own-sessions-bounded':
        'sessions that calls have alone are bounded per caller; more calls wait in turn',
      'choice.limit.sessions-per-asked-caller':
        'sessionsPerAskedCaller bounds the sessions with one backend for calls that may be asked',
      'choice.share.asked-sessions':
        'sessions that calls of callers without identity have alone are counted and waited for by network',
      'choice.share.parked-gives-way':
        'when all sessions of a backend are in use, a caller without any takes that of a waiting call of the caller with the most',
      'choice.era.legacy-session':
        'a legacy client of a backend of both eras has a legacy session with it, and can be asked in every way',
      'choice.era.modern-client': 'a modern client of a backend of both eras shares the stateless one',
      'choice.era.modern-only': 'a backend that refuses initialize is bridged for legacy clients, and not asked again',
      'choice.era.no-room': 'a legacy client is bridged to a backend of both eras when its sessions are all in use',
      'choice.era.setting': 'era: modern, or sessions: shared, keeps a backend of both eras modern for everybody',
      'choice.era.up': 'up takes the era of all servers by --era and of one by its member era',
      'choice.resource.unlisted':
        'a resource that no list names is read and subscribed to at the only backend with resources',
      'choice.resource.unlisted-owner':
        'a resource that no list names is read at the backend that alone lists its authority or scheme',
      'choice.resource.unlisted-ambiguous':
        'a resource that several backends may have and none lists is not found, and the error names them',
      'choice.resource.unlisted-hidden': 'what a plugin took off the list of resources cannot be read either',
      'choice.resource.unlisted-policy': 'policy decides a resource that no list names like any other',
    },
  },
] as const satisfies readonly Section[];
