import type { Mutation } from './mutation.ts';

const BOOK = 'core/server/era-2025-11-25/sessions/session-store.ts';
const CURSOR = 'core/catalog/cursor.ts';
const FIND_SESSION = 'core/server/era-2025-11-25/find-session.ts';
const GET_STREAM = 'core/server/era-2025-11-25/get-stream.ts';
const HEADER_VALUE = 'core/mcp/headers.ts';
const HEADER_CHECKS = 'core/server/era-2026-07-28/validate-headers.ts';
const LIMITS = 'core/limits.ts';
const LISTEN = 'core/server/era-2026-07-28/listen.ts';
const ORIGIN = 'core/server/http/origin.ts';
const PAGES = 'core/catalog/page-cache.ts';
const SESSIONS = 'core/server/era-2025-11-25/sessions/sessions.ts';
const STREAM = 'core/server/era-2025-11-25/sessions/resumable-stream.ts';

/** Behaviour towards clients of both revisions: headers, guards, sessions, streams, pages. */
export const protocolBehaviours: readonly Mutation[] = [
  [
    'choice.wire.modern-header-missing',
    HEADER_CHECKS,
    "return badHeader('MCP-Protocol-Version is missing');",
    'return;',
  ],
  [
    'choice.wire.modern-header-mismatch',
    HEADER_CHECKS,
    'if (given.trim() === meta[META.protocolVersion]) return undefined;',
    'return undefined;',
  ],
  [
    'choice.wire.modern-version-unsupported',
    HEADER_CHECKS,
    "{ supported, requested: typeof requested === 'string' ? echoed(requested) : null }",
    '{ supported }',
  ],
  ['choice.wire.method-header-missing', HEADER_CHECKS, "return badHeader('Mcp-Method is missing');", 'return;'],
  ['choice.wire.method-header-mismatch', HEADER_CHECKS, 'given.trim() === message.method ?', 'given !== undefined ?'],
  [
    'choice.wire.method-header-case',
    HEADER_CHECKS,
    'given.trim() === message.method',
    'given.trim().toLowerCase() === message.method.toLowerCase()',
  ],
  ['choice.wire.name-header-missing', HEADER_CHECKS, "return badHeader('Mcp-Name is missing');", 'return;'],
  ['choice.wire.name-header-missing', HEADER_CHECKS, "  ['prompts/get', 'name'],\n", ''],
  ['choice.wire.name-header-mismatch', HEADER_CHECKS, 'name === message.given[member] ?', 'name !== undefined ?'],
  ['choice.wire.name-header-mismatch', HEADER_CHECKS, "  ['resources/read', 'uri'],\n", ''],
  ['choice.wire.name-header-tasks', HEADER_CHECKS, "  ['tasks/cancel', 'taskId'],\n", ''],
  [
    'choice.wire.client-capabilities-missing',
    HEADER_CHECKS,
    'isObject(meta[META.clientCapabilities]) ?',
    'meta !== undefined ?',
  ],
  [
    'choice.error.envelope-key',
    HEADER_CHECKS,
    'level !== undefined && !isLogLevel(level)',
    'level === undefined && !isLogLevel',
  ],
  ['choice.encoding.bad-base64', HEADER_VALUE, 'if (!BASE64.test(inner)) return undefined;', ''],
  [
    'choice.encoding.markers-case-sensitive',
    HEADER_VALUE,
    'text.startsWith(PREFIX)',
    'text.toLowerCase().startsWith(PREFIX)',
  ],
  ['choice.encoding.looks-like-sentinel', HEADER_VALUE, 'last >= 0 && !looksEncoded(text)', 'last >= 0'],
  [
    'choice.wire.repeated-members',
    'core/json/ambiguous-names.ts',
    'for (const element of value as readonly JsonValue[]) members += membersOf(element);\n    return members;',
    'return 0;',
  ],
  [
    'choice.wire.look-alike-params',
    'core/json/ambiguous-names.ts',
    'declared.like(foldCase(name))',
    'declared.like(name)',
  ],
  [
    'choice.wire.forwarded-params',
    'core/mcp/message.ts',
    "'tools/call': new Set(['name', 'arguments'])",
    "'tools/call': new Set(['name', 'arguments', 'task'])",
  ],
  [
    'choice.wire.null-origin',
    ORIGIN,
    'if (origins.has(origin.toLowerCase()) ||',
    "if (origin === 'null' || origins.has(origin.toLowerCase()) ||",
  ],
  ['choice.wire.invalid-origin', ORIGIN, 'page.origin !== origin.toLowerCase() || ', ''],
  ['choice.wire.local-pages', ORIGIN, ' || own.port !== page.port', ''],
  ['choice.wire.own-origin', ORIGIN, "(hostIsChecked || isIP(own.hostname.replace(BRACKETS, '')) !== 0)", 'true'],
  ['choice.wire.invalid-host', ORIGIN, '|\\[::1\\])$/;', '|\\[::1\\])/;'],
  ['choice.listen.only-what-was-asked', LISTEN, 'if (!this.kinds.has(kind)) return;', ''],
  [
    'choice.listen.resource-subscriptions',
    LISTEN,
    'if (this.uris.get(uri)?.backend !== backend) return;',
    'if (workload === "") return;',
  ],
  [
    'choice.listen.missing-notifications',
    LISTEN,
    "return { wrong: 'params.notifications must be an object' };",
    'return { kinds: [], uris: [] };',
  ],
  ['choice.listen.subscription-id', LISTEN, '.with(META.subscriptionId, this.#id);', ';'],
  [
    'choice.wire.disconnect-cancels',
    'core/server/http/node-adapter.ts',
    "this.#responder.onDisconnect(() => cancel.abort(new Error('the client closed the connection')));",
    '',
  ],
  ['choice.session.id-on-initialize', SESSIONS, 'add(randomUUID(), caller', 'add(String(sessions.size), caller'],
  ['choice.session.ttl', LIMITS, '.default(1_800_000)', '.default(1_900_000)'],
  [
    'choice.session.bad-version-header',
    FIND_SESSION,
    'version !== undefined && !isSupportedVersion(version)',
    'version === undefined && !isSupportedVersion',
  ],
  [
    'choice.error.legacy-missing-session',
    FIND_SESSION,
    "refuse(exchange, id, 400, NO_SESSION, 'Mcp-",
    "refuse(exchange, id, 404, NO_SESSION, 'Mcp-",
  ],
  ['choice.rate-limit.sessions-store-away', FIND_SESSION, 'away: { status: 503', 'away: { status: 404'],
  ['choice.session.shared-theft', SESSIONS, 'if (!isBoundTo(looked, id, caller.key)) {', 'if (looked === undefined) {'],
  ['choice.session.shared-theft', SESSIONS, '    await from.end(id);\n', ''],
  ['choice.session.shared-theft', SESSIONS, '      void sharedSessions?.end(session.id);\n', ''],
  ['choice.session.shared-end', SESSIONS, 'if (!isThere && !isLost) {', 'if (looked === undefined) {'],
  ['choice.session.shared-lost', SESSIONS, 'if (isLost) await from.write(session);', ''],
  [
    'choice.session.shared-keys',
    SESSIONS,
    'return sharedSessions !== undefined && isSessionId(id)',
    'return sharedSessions !== undefined',
  ],
  ['choice.session.shared-ttl', BOOK, 'store.get(id, idleMs)', 'store.get(id)'],
  [
    'choice.session.shared-no-token',
    BOOK,
    'const caller = callerDigest(session.id, session.caller.key);',
    'const caller = session.caller.key;',
  ],
  ['choice.session.shared-tampered', BOOK, 'z.strictObject({\n  caller', 'z.looseObject({\n  caller'],
  ['choice.session.shared-tampered', BOOK, '.regex(/^[0-9a-f]{64}$/)', ''],
  ['choice.token-exchange.present-token', SESSIONS, '    session.caller = caller;\n', ''],
  [
    'choice.session.get-stream-second',
    GET_STREAM,
    'if (id === undefined && stream.isConnected)',
    'if (stream === undefined)',
  ],
  ['choice.session.resume', STREAM, 'if (seq > after) writer', 'if (seq >= after) writer'],
  ['choice.session.resume', STREAM, 'this.#add({ seq, urgency, message });', ''],
  ['choice.session.priming-event', STREAM, 'if (this.#parts.isPrimed) writer.prime', 'if (after < 0) writer.prime'],
  [
    'choice.session.cancelled',
    'core/server/era-2025-11-25/response.ts',
    'this.cancellation.abort(new Error(reason));',
    '',
  ],
  ['choice.modern.cursor-opaque', CURSOR, ' || value.k !== kind', ''],
  ['choice.modern.cursor-opaque', CURSOR, 'cursor.length > MAX_CURSOR || ', ''],
  ['choice.modern.last-page', PAGES, 'end < entries.length ?', 'end <= entries.length ?'],
  ['choice.session.single-page', PAGES, 'LEGACY_PAGE_FACTOR = 10;', 'LEGACY_PAGE_FACTOR = 9;'],
  [
    'choice.modern.page-size',
    LIMITS,
    ".default(1000)\n    .describe('items on one list page",
    ".default(999)\n    .describe('items on one list page",
  ],
  ['choice.modern.cache-scope-merge', PAGES, "cacheScope: 'private', resultType", "cacheScope: 'public', resultType"],
  [
    'choice.modern.cache-ttl-merge',
    'core/backend/lists/list-age.ts',
    'let ttlMs = listTtlMs;',
    'let ttlMs = listTtlMs * 2;',
  ],
  [
    'choice.aggregation.claims-dropped',
    'core/catalog/collisions.ts',
    'best.rank !== undefined && isAlone ? best : undefined',
    'best',
  ],
  [
    'choice.aggregation.uri-claims',
    'core/catalog/uri-claims.ts',
    'const claims = [...named, ...firm];',
    'const claims = named.length > 0 ? named : firm;',
  ],
  [
    'choice.aggregation.dot-segments',
    'core/catalog/ambiguous-uri.ts',
    'if (ENCODED_UNRESERVED.test(text)) return true;',
    '',
  ],
  ['choice.aggregation.dot-segments', 'core/catalog/ambiguous-uri.ts', ".replace(ENCODED_SLASH, '/')", ''],
  [
    'choice.resource.unlisted-hidden',
    'core/catalog/unlisted-resources.ts',
    'if (known.isWithheld(uri)) return NOWHERE;',
    '',
  ],
  [
    'choice.resource.unlisted-ambiguous',
    'core/catalog/unlisted-resources.ts',
    'known.possible.length === 1 && sole !== undefined',
    'sole !== undefined',
  ],
  [
    'choice.resource.unlisted-hidden',
    'core/catalog/unlisted-resources.ts',
    'if (owners.size === 1) return NOWHERE;',
    'if (owners.size < 0) return NOWHERE;',
  ],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
