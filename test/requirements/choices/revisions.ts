import type { Section } from '../section.ts';

/** The two revisions as each client sees them, and how capabilities pass. */
export const revisions = [
  {
    source: 'choice: legacy sessions',
    says: {
      'choice.session.id-on-initialize': 'initialize answers an Mcp-Session-Id header of unguessable visible ASCII',
      'choice.session.unknown-404': 'an unknown, expired or ended session answers 404',
      'choice.session.deleted-calls':
        'a call that runs when its session ends gets an error: 404, and 503 when the gateway stops',
      'choice.session.delete': 'DELETE ends the session and a later request with it answers 404',
      'choice.session.delete-closes-backends': 'DELETE closes the backend sessions of the client session',
      'choice.session.ttl': 'a session lives 30 minutes after its last use',
      'choice.session.list-after-initialize': 'tools/list sent right after initialize shows the full set',
      'choice.session.owner-bound': 'a session belongs to the caller that opened it, and another caller is refused',
      'choice.session.version-offer': 'initialize with an unknown or modern version is offered 2025-11-25',
      'choice.session.bad-version-header': 'a legacy request with a bad version header answers 400',
      'choice.session.no-version-header': 'a legacy request without version header is accepted',
      'choice.session.get-stream-second': 'a second GET stream of a session answers 409',
      'choice.session.resume': 'a stream is resumed by Last-Event-ID without loss or repetition',
      'choice.session.disconnect-is-not-cancel': 'a dropped legacy stream does not cancel the call',
      'choice.session.cancelled': 'notifications/cancelled cancels the running call',
      'choice.session.message-on-one-stream': 'each server message travels on exactly one stream',
      'choice.session.priming-event': 'a resumable stream begins with an event that has an id and empty data',
      'choice.session.single-page': 'lists to a legacy client are one page up to ten times the page size',
      'choice.session.backend-session-kept':
        'one backend session per client session and backend is kept, never one per call',
      'choice.session.backend-session-separate':
        'two client sessions never share a backend session of a stateful server',
      'choice.session.backend-session-lost': 'a backend that answers 404 to its session is initialised again once',
      'choice.session.repeat-only-safe': 'a request that may have run is never repeated',
      'choice.session.bounded': 'the number of sessions is bounded and the bound has a name',
    },
  },
  {
    source: 'choice: legacy sessions in a store',
    says: {
      'choice.session.shared': 'a session opened on one replica is served by every other',
      'choice.session.shared-end':
        'a session that one replica ended is gone on the others within limits.sessionCheckMs',
      'choice.session.shared-ttl': 'use on any replica keeps a session alive, and it expires for all',
      'choice.session.shared-lost': 'a session in use survives a store that loses its data',
      'choice.session.shared-no-token': 'a record holds no token and no name of a caller',
      'choice.session.shared-owner':
        'what needs the replica that asked or streamed is refused with a sentence on any other',
      'choice.session.shared-theft': 'a session id in the hands of another caller is refused on every replica and ends',
      'choice.session.shared-tampered': 'a record that no gateway wrote is an unknown session',
      'choice.session.shared-keys': 'only a well-formed session id is ever looked up',
      'choice.session.shared-flood': 'sessions and records are bounded on each replica',
      'choice.session.fixation': 'the id of a session is never the choice of a client',
      'choice.rate-limit.sessions-store-away': 'sessions answer 503 when the store is away',
    },
  },
  {
    source: 'choice: modern edge',
    says: {
      'choice.modern.discover': 'server/discover answers supportedVersions, capabilities, ttlMs and cacheScope',
      'choice.modern.discover-versions': 'server/discover lists only versions that this endpoint speaks',
      'choice.modern.result-type': 'every modern result carries resultType',
      'choice.modern.server-info': 'every modern result carries the server info of the gateway in _meta',
      'choice.modern.cache-hints': 'lists, resources/read and discover carry ttlMs and cacheScope',
      'choice.modern.cache-scope-merge':
        'a merged list is never public: that a backend calls its list public is not taken',
      'choice.modern.cache-ttl-merge':
        'a merged list is valid for limits.listTtlMs at most, whatever ttl its contributors give',
      'choice.modern.cache-default-private': 'without a hint a list is private with a ttl of 0',
      'choice.modern.cache-retry': 'a result produced by a retry with input carries no cache hint',
      'choice.modern.no-store': 'modern answers carry Cache-Control private, no-store',
      'choice.modern.page-size': 'modern lists are paged with 1000 entries a page',
      'choice.modern.cursor-opaque': 'a cursor of another list kind, malformed or above 512 characters is refused',
      'choice.modern.last-page': 'the last page has no nextCursor',
      'choice.modern.no-session': 'a modern request opens and needs no session',
      'choice.modern.ids-unique': 'request ids in flight must be unique and not null',
      'choice.modern.log-level': 'log messages reach a modern client only when the request set a logLevel',
    },
  },
  {
    source: 'choice: subscriptions/listen',
    says: {
      'choice.listen.acknowledged-first':
        'the first message of a listen stream is the acknowledgement with the honoured subset',
      'choice.listen.subscription-id': 'every message of a listen stream carries the request id as subscription id',
      'choice.listen.only-what-was-asked': 'a listen stream sends nothing that was not asked for',
      'choice.listen.missing-notifications': 'a listen without notifications answers -32602',
      'choice.listen.graceful-end': 'at shutdown a listen stream ends with its complete result',
      'choice.listen.resource-subscriptions': 'resourceSubscriptions deliver resources/updated of exactly these URIs',
      'choice.listen.bounded': 'the streams of one caller are bounded',
      'choice.listen.several': 'several listen streams may be open at once',
    },
  },
  {
    source: 'choice: probe of backends',
    says: {
      'choice.probe.modern': 'a backend is modern when discover lists a version that is spoken',
      'choice.probe.recognised-error': 'a modern error code as answer to the probe means modern',
      'choice.probe.method-not-found': '-32601 as answer to the probe means legacy',
      'choice.probe.http-400': 'a 400 with text as answer to the probe means legacy',
      'choice.probe.silence': 'a backend that stays silent on the probe is legacy after the probe timeout',
      'choice.probe.exit': 'a process that exits on the probe is started again and used as legacy',
      'choice.probe.negotiated-down': 'discover without a modern version means legacy',
      'choice.probe.inconclusive': '401, 403, 5xx and timeouts leave no verdict behind',
      'choice.probe.remembered':
        'a verdict is remembered per backend until its configuration changes or evidence refutes it',
      'choice.probe.sse-legacy': 'a backend of transport sse is legacy without a probe',
    },
  },
  {
    source: 'choice: capabilities',
    says: {
      'choice.capability.tools': 'tools are advertised when a backend has them',
      'choice.capability.list-changed': 'listChanged is advertised and really sent',
      'choice.capability.resource-subscribe': 'resources.subscribe is advertised only when a backend can deliver',
      'choice.capability.completions': 'completion/complete is routed by prompt name, template or URI',
      'choice.capability.completions-unroutable': 'a completion that cannot be routed answers -32602',
      'choice.capability.logging': 'logging/setLevel reaches the backends',
      'choice.capability.elicitation': 'elicitation of a backend reaches the client during its call',
      'choice.capability.sampling': 'sampling of a backend reaches the client during its call',
      'choice.capability.roots': 'roots/list of a backend reaches the client during its call',
      'choice.capability.progress': 'progress of a backend reaches the client under its own token',
      'choice.capability.cancellation': 'a cancelled call is cancelled at the backend',
      'choice.capability.mirrored': 'a backend sees the relayable capabilities that the client declared, and no more',
      'choice.capability.extensions': 'extensions pass through when both sides declare them',
      'choice.capability.experimental-dropped': 'experimental capabilities are not passed on',
      'choice.capability.legacy-tasks-stripped': 'the legacy tasks capability and tool execution are removed',
    },
  },
] as const satisfies readonly Section[];
