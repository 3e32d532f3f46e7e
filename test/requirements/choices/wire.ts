import type { Section } from '../section.ts';

/** The wire of the endpoint: the order of checks, both revisions and their errors. */
export const wire = [
  {
    source: 'choice: endpoint',
    says: {
      'choice.endpoint.path-mcp': 'the MCP endpoint is served at /mcp',
      'choice.endpoint.port-default': 'the default port of the endpoint is 4483',
      'choice.endpoint.host-default': 'the default host of a standalone endpoint is 127.0.0.1',
      'choice.endpoint.health': 'GET /health and GET /ping answer 200 with {"status":"ok"} whatever the backends do',
      'choice.endpoint.readyz': 'GET /readyz answers 200 with {"status":"ready"} for static backends',
      'choice.endpoint.readyz-backends':
        '/readyz answers 503 with the names of backends that are away while partialFailureMode is fail',
      'choice.endpoint.readyz-catalogue':
        '/readyz answers 503 with the reason catalogue_unavailable while no catalogue can be made, e.g. because names collide',
      'choice.endpoint.backends-health':
        '/api/backends/health answers monitoring_enabled, a summary and each backend by name',
      'choice.endpoint.one-health': 'every status page tells the same health of a backend: that of the monitor, if any',
      'choice.endpoint.status':
        'GET and HEAD /status answer backends, healthy, version and group_ref, other methods 405',
      'choice.endpoint.status-healthy':
        '/status is healthy with at least one healthy backend, and one that has not answered yet is unknown there',
      'choice.endpoint.status-headers': '/status carries X-Content-Type-Options nosniff and Cache-Control no-store',
      'choice.endpoint.status-no-urls': '/status never shows the URL of a backend',
      'choice.endpoint.status-conflicts':
        '/status lists at most 100 names and URIs that several backends claim, with their number, where the page is guarded or callers need no proof',
      'choice.endpoint.status-guard':
        'statusPages.tokenEnv asks for a bearer token at /status, /api/backends/health, /metrics and /api/explain: 401 with WWW-Authenticate without it; /health, /ping and /readyz stay open',
      'choice.endpoint.status-guard-port':
        'statusPages.port serves the pages at a listener of their own, on loopback by default, and the port of the endpoint answers 404 there',
      'choice.endpoint.status-guard-start':
        'a variable of statusPages.tokenEnv that is unset, empty or no bearer token refuses the start and names the variable, not its value',
      'choice.endpoint.status-guard-readyz': '/readyz names no backends while the status pages are guarded',
      'choice.endpoint.status-guard-reload':
        'a reload that changes statusPages applies completely or not at all: the previous pages stay when the new settings are invalid',
      'choice.endpoint.status-guard-spellings':
        'no other spelling of path, method, Host or Origin, nor a token in the query, reaches a guarded page',
      'choice.endpoint.status-guard-flags':
        '--status-port and --status-token-env guard the pages of a group without a file',
      'choice.endpoint.protected-resource-404':
        'the protected-resource path answers a JSON 404 when authentication is off',
    },
  },
  {
    source: 'choice: http limits',
    says: {
      'choice.http.body-limit': 'a body above the limit of 8 MiB answers 413 with -32600',
      'choice.http.header-limit': 'headers are limited to 32 KiB',
      'choice.http.head-time': 'a request head that trickles in is cut within a second of its time',
      'choice.http.connections':
        'connections are bounded together and per address, and the oldest of the one with the most makes room',
      'choice.http.small-pieces':
        'a body, of a client or a backend, takes about its own size in memory, however small the pieces it arrives in',
      'choice.http.result-limit': 'a backend answer is limited to 100 MiB',
      'choice.http.message-containers':
        'objects and arrays in one message of a client are bounded by the scan, before anything is decoded',
      'choice.http.message-values':
        'values of any kind in one message of a client are bounded by the scan, before anything is decoded',
      'choice.http.result-values':
        'values in one message of a backend are bounded: over the limit its call ends with BACKEND_TOO_LARGE',
      'choice.http.object-members':
        'an object of more than 10,000 members, at any depth, answers 400 with -32600, and BACKEND_TOO_LARGE from a backend',
      'choice.limit.names':
        'a tool or prompt name over nameBytes and a URI over uriBytes answer -32602 to every caller, and such entries are not listed',
      'choice.http.linear-in-members': 'time grows no faster than the members of a request or of an answer',
      'choice.http.batch-refused': 'a JSON array body answers 400 with -32600',
      'choice.http.get-not-acceptable': 'GET without Accept text/event-stream answers 406 with -32600',
      'choice.http.lenient-accept': 'a POST with a JSON-only, odd or missing Accept is served',
      'choice.http.keep-alive': 'an open event stream gets a comment line as keep-alive',
      'choice.http.sse-headers': 'event streams carry X-Accel-Buffering no and Cache-Control no-cache, no-transform',
      'choice.http.no-write-deadline': 'a tools/call answered after 30 s still reaches the client',
      'choice.http.graceful-shutdown': 'open requests get 10 s to finish at shutdown',
    },
  },
  {
    source: 'choice: order of checks',
    says: {
      'choice.wire.echoed-text': 'an error repeats at most 200 characters of a name, URI, method or argument name',
      'choice.wire.invalid-origin': 'a present Origin that is not allowed answers 403',
      'choice.wire.own-origin': 'pages of the address of the gateway itself may send requests to it',
      'choice.wire.local-pages':
        'of the other pages of this machine only MCP Inspector at its default address may, unless an origin is configured',
      'choice.wire.origin-option': 'the refusal of an Origin names the option that allows it, of every host',
      'choice.wire.null-origin': 'the Origin null answers 403',
      'choice.wire.missing-origin': 'a missing Origin passes',
      'choice.wire.invalid-host': 'a Host that is not allowed answers 403 on a loopback bind',
      'choice.wire.modern-get-and-delete':
        'GET and DELETE without a legacy session answer as the session rules say, never as modern',
      'choice.wire.other-methods-405': 'HTTP methods other than POST, GET and DELETE answer 405',
      'choice.wire.content-type': 'a POST whose media type is not application/json answers 415',
      'choice.wire.content-coding': 'a request with a Content-Encoding, or a charset other than utf-8, answers 415',
      'choice.wire.ambiguous-head':
        'a request whose target is not a path, or that repeats Host or another header that decides something, answers 400',
      'choice.wire.lone-surrogates': 'a message with half a surrogate pair answers 400 with -32602',
      'choice.wire.parse-error': 'a body that is not JSON answers 400 with -32700',
      'choice.wire.repeated-members':
        'params that name a member twice, at any depth, answer 400 with -32602, so that policy and backend read the same',
      'choice.wire.look-alike-params':
        'params with a member that differs from a known one only by case answer 400 with -32602',
      'choice.wire.forwarded-params': 'of the params of a call only the members that policy knows reach a backend',
      'choice.wire.not-single-message': 'JSON that is no single JSON-RPC message answers 400 with -32600',
      'choice.wire.modern-in-array': 'a modern element inside an array is refused',
      'choice.wire.initialize-without-claim': 'initialize without a modern claim is legacy',
      'choice.wire.no-claim-legacy': 'a body without a modern claim is legacy traffic',
      'choice.wire.modern-header-without-envelope':
        'a modern version header over a body without envelope answers 400 with -32602',
      'choice.wire.legacy-header-with-session-wins':
        'a legacy version header with a valid session id wins over stray reserved _meta keys',
      'choice.wire.modern-header-missing': 'a modern body without MCP-Protocol-Version answers 400 with -32020',
      'choice.wire.modern-header-mismatch': 'MCP-Protocol-Version that differs from the body answers 400 with -32020',
      'choice.wire.modern-version-unsupported':
        'a version that is not spoken answers 400 with -32022 and data.supported and data.requested',
      'choice.wire.method-header-missing': 'a modern request without Mcp-Method answers 400 with -32020',
      'choice.wire.method-header-mismatch': 'Mcp-Method that differs from the body answers 400 with -32020',
      'choice.wire.method-header-case': 'the value of Mcp-Method is case-sensitive and its header name is not',
      'choice.wire.name-header-missing':
        'tools/call, prompts/get and resources/read without Mcp-Name answer 400 with -32020',
      'choice.wire.name-header-mismatch':
        'Mcp-Name that differs from params.name or params.uri answers 400 with -32020',
      'choice.wire.name-header-whitespace': 'white space around Mcp-Name is trimmed before it is compared',
      'choice.wire.name-header-tasks':
        'Mcp-Name of tasks/get, tasks/update and tasks/cancel is compared with params.taskId',
      'choice.wire.client-capabilities-missing': 'a modern request without clientCapabilities answers 400 with -32602',
      'choice.wire.method-unknown': 'an unknown modern method answers 404 with -32601',
      'choice.wire.method-removed':
        'initialize, ping, logging/setLevel and resources/subscribe with a modern envelope answer 404 with -32601',
      'choice.wire.param-header-mismatch': 'an Mcp-Param header that differs from its argument answers 400 with -32020',
      'choice.wire.capability-missing':
        'a needed and undeclared client capability answers 400 with -32021 and data.requiredCapabilities',
      'choice.wire.method-error-200': 'what the method itself produces answers 200 with the error in the body',
      'choice.wire.id-echo': 'every error answer carries the id of its request',
      'choice.wire.notification-202': 'a notification POST answers 202 with an empty body',
      'choice.wire.retired-codes': '-32002 and -32042 are never sent to a modern client',
      'choice.wire.disconnect-cancels':
        'a modern client that closes its response stream cancels the call and gets nothing more',
      'choice.wire.stream-upgrade':
        'an answer starts as JSON and becomes an event stream only when a message precedes the result',
    },
  },
  {
    source: 'choice: header encoding',
    says: {
      'choice.encoding.plain': 'visible ASCII with inner blanks travels plain in Mcp-Name',
      'choice.encoding.sentinel': 'any other value travels as =?base64?…?= of its UTF-8 bytes',
      'choice.encoding.looks-like-sentinel': 'a plain value that looks like the sentinel is encoded too',
      'choice.encoding.bad-base64': 'a sentinel with a bad alphabet or padding answers 400 with -32020',
      'choice.encoding.literal': 'a value without the full prefix and suffix is a literal',
      'choice.encoding.markers-case-sensitive': 'the markers of the sentinel are lower case only',
      'choice.encoding.param-omitted': 'an absent or null argument sends no Mcp-Param header',
      'choice.encoding.param-integers': 'integers in Mcp-Param headers are compared as numbers',
      'choice.encoding.param-types':
        'x-mcp-header is allowed only on string, integer and boolean properties reached by properties',
      'choice.encoding.param-invalid-dropped':
        'a tool with an invalid x-mcp-header is dropped from the list and the reason is logged',
      'choice.encoding.header-bounds': 'header count and size are bounded before base64 is decoded',
    },
  },
  {
    source: 'choice: error table',
    says: {
      'choice.error.envelope-key': 'a missing or malformed envelope key answers 400 with -32602 and names the key',
      'choice.error.unknown-tool': 'an unknown tool answers 200 with -32602',
      'choice.error.unknown-prompt': 'an unknown prompt answers 200 with -32602',
      'choice.error.bad-arguments': 'arguments that are not an object answer -32602',
      'choice.error.resource-not-found-modern':
        'a resource that is not found answers -32602 with its uri to a modern client',
      'choice.error.resource-not-found-legacy': 'a resource that is not found answers -32002 to a legacy client',
      'choice.error.bad-cursor': 'a bad cursor answers 200 with -32602',
      'choice.error.request-state-invalid':
        'an invalid or expired requestState answers 200 with -32602 and a constant reason',
      'choice.error.backend-unreachable-tool':
        'a tools/call to an unreachable backend answers 200 with an isError result that names the backend',
      'choice.error.backend-unreachable-other':
        'another method to an unreachable backend answers 200 with -32603 that names the backend',
      'choice.error.no-internals': 'an error to a client shows no backend URL, environment or stack',
      'choice.error.legacy-unknown-session': 'an unknown legacy session answers 404',
      'choice.error.legacy-missing-session': 'a legacy request without its session id answers 400',
      'choice.error.listing-fault': 'a fault while listing answers -32603 with a general text',
      'choice.error.policy-denied':
        'a call that a plugin refuses answers 403 with a JSON-RPC error and names the kind only',
      'choice.error.unauthenticated': 'an unauthenticated caller gets 401',
    },
  },
  {
    source: 'choice: error table',
    says: {
      'choice.error.insufficient-scope': 'insufficient scope answers 403 with WWW-Authenticate',
    },
  },
] as const satisfies readonly Section[];
