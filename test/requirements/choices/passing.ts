import type { Section } from '../section.ts';

/** Fidelity of what passes through, the four combinations and the backends. */
export const passing = [
  {
    source: 'choice: fidelity',
    says: {
      'choice.fidelity.unknown-fields': 'unknown fields of results arrive as they were sent',
      'choice.fidelity.unknown-content-types': 'unknown content types arrive as they were sent',
      'choice.fidelity.meta': '_meta keys outside the reserved namespace arrive both ways',
      'choice.fidelity.structured-content': 'structuredContent arrives as it was sent',
      'choice.fidelity.schemas': 'inputSchema and outputSchema arrive untouched',
      'choice.fidelity.annotations-and-icons': 'annotations and icons arrive as they were sent',
      'choice.fidelity.big-integers': 'integers beyond the safe range of JavaScript keep every digit',
      'choice.fidelity.large-result': 'a result of 20 MB arrives byte-equal',
      'choice.fidelity.unknown-result-type': 'an unknown resultType passes only when its extension was negotiated',
      'choice.fidelity.reserved-meta-request': 'reserved _meta of a client is replaced before the backend sees it',
      'choice.fidelity.reserved-meta-result': 'reserved _meta of a backend is replaced before the client sees it',
      'choice.fidelity.trace-context': 'traceparent, tracestate and baggage in _meta pass on',
      'choice.fidelity.ids-per-hop': 'JSON-RPC ids and progress tokens are made anew on each hop',
      'choice.fidelity.headers-recomputed': 'Mcp-Name and the other headers are computed anew from the rewritten body',
      'choice.fidelity.headers-never-copied':
        'Authorization, Host, session and hop-by-hop headers of the client never reach a backend',
      'choice.fidelity.param-headers': 'Mcp-Param headers are computed from the arguments by the schema of the backend',
      'choice.fidelity.schema-refs': 'a $ref of a schema is never fetched',
    },
  },
  {
    source: 'choice: four combinations',
    says: {
      'choice.bridge.legacy-to-legacy': 'a legacy client and a legacy backend exchange every feature',
      'choice.bridge.modern-to-modern': 'a modern client and a modern backend exchange every feature',
      'choice.bridge.modern-to-legacy': 'a modern client calls a legacy backend',
      'choice.bridge.legacy-to-modern': 'a legacy client calls a modern backend',
      'choice.bridge.modern-to-legacy-result': 'a legacy result becomes modern by resultType and cache hints',
      'choice.bridge.modern-to-legacy-not-found': '-32002 of a legacy backend becomes -32602',
      'choice.bridge.modern-to-legacy-input':
        'a request of a legacy backend becomes an input-required result while its call waits',
      'choice.bridge.modern-to-legacy-undeclared':
        'a request of a legacy backend for an undeclared capability answers -32021',
      'choice.bridge.modern-to-legacy-log-level':
        'the logLevel of a request filters the log messages of a legacy backend',
      'choice.bridge.modern-to-legacy-subscribe':
        'resourceSubscriptions become resources/subscribe at a legacy backend',
      'choice.bridge.modern-to-legacy-url-elicitation':
        '-32042 with elicitations becomes input required with url entries',
      'choice.bridge.modern-to-legacy-content': 'a legacy tool result without content gets an empty list',
      'choice.bridge.legacy-to-modern-input':
        'an input-required result becomes real requests to the legacy client and a retry',
      'choice.bridge.legacy-to-modern-rounds': 'the rounds of input of one call are bounded',
      'choice.bridge.legacy-to-modern-cannot-ask': 'input that the legacy client cannot give ends in an isError result',
      'choice.bridge.legacy-to-modern-ping': 'ping of a legacy client is answered by the gateway',
      'choice.bridge.legacy-to-modern-log-level': 'logging/setLevel becomes the logLevel of each request',
      'choice.bridge.legacy-to-modern-subscribe': 'resources/subscribe becomes a listen at a modern backend',
      'choice.bridge.legacy-to-modern-structured': 'structuredContent that is no object is wrapped for a legacy client',
      'choice.bridge.url-elicitation-id': 'url elicitation to a legacy client gets an elicitationId',
      'choice.bridge.not-bridgeable-listed': 'what cannot be bridged is refused with its code and listed in the docs',
    },
  },
  {
    source: 'choice: requestState',
    says: {
      'choice.request-state.sealed': 'requestState of a backend is sealed before a client sees it',
      'choice.request-state.tampered': 'a changed requestState is refused',
      'choice.request-state.expired': 'an expired requestState is refused',
      'choice.request-state.other-caller': 'requestState of another caller is refused',
      'choice.request-state.other-tool': 'requestState of another tool is refused',
      'choice.request-state.exact-echo':
        'the backend gets its own requestState back exactly, and none when it gave none',
      'choice.request-state.size-cap': 'requestState is bounded before it is decoded',
      'choice.request-state.one-call': 'several rounds of one call count once for limits and audit',
    },
  },
  {
    source: 'choice: backends',
    says: {
      'choice.backend.timeout': 'a backend call uses the timeout of its workload, else the default',
      'choice.backend.discovery-deadline': 'a slow backend delays neither the list nor the calls of another',
      'choice.backend.page-walk': 'pages of a backend are followed up to a bound',
      'choice.backend.page-cycle': 'a repeated cursor is an error of that backend only',
      'choice.backend.templates-not-found': '-32601 to resources/templates/list means an empty list',
      'choice.backend.away-list-kept': 'the last known list of a backend that is away stays for 60 seconds',
      'choice.backend.away-call': 'a call to a backend that is away fails with its cause',
      'choice.backend.away-leaves': 'after the grace time the list leaves with one list_changed',
      'choice.backend.one-notification': 'a backend added, gone, changed or back is one notification to each client',
      'choice.backend.prompt-changes':
        'a changed list is read at once, and what changes within limits.coalesceMs is still one notification',
      'choice.backend.sockets-dropped': 'the connections of an HTTP backend that goes away are let go of',
      'choice.backend.http-connections':
        'requests to an HTTP backend reuse its connections, one at a time; idle ones are closed before the backend does',
      'choice.backend.http-framing':
        'an answer whose end is ambiguous is refused, and its connection is never used again',
      'choice.backend.http-headers': 'a header that would make another request of a request is not sent',
      'choice.backend.client-certificate': 'a backend that demands a client certificate gets the configured one',
      'choice.backend.tls-named':
        'a failed TLS connection is named by its reason: a demanded or refused client certificate, an old version, no TLS, no trust',
      'choice.backend.http-client':
        'httpClient of a plan or vmcp file, else TOOLMGR_HTTP_CLIENT, names the client of HTTP backends: own (default) or undici; a missing package is refused with the command that installs it',
      'choice.backend.read-buffers':
        'what a caller gets of a response is its own copy: no read for another caller changes it, over plain and TLS connections',
      'choice.backend.unchanged-suppressed':
        'a change that leaves the visible list as it was is not notified to those whose session did not tell of it',
      'choice.backend.definition-hash': 'a change of any field of a backend takes effect',
      'choice.backend.concurrency': 'calls in flight per backend are bounded',
      'choice.backend.line-limit': 'a line of a stdio backend is bounded',
      'choice.backend.early-calls': 'concurrent first calls open exactly one backend session',
      'choice.backend.duplicate-tool-names': 'two tools of one name in one backend leave one and a warning',
      'choice.backend.bad-utf8': 'bytes of a stdio backend that are not UTF-8 break only that message',
    },
  },
] as const satisfies readonly Section[];
