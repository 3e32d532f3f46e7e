import type { Era } from '../contract/era.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonValue } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { explainCause } from '../errors.ts';
import { ANONYMOUS } from '../extension/anonymous.ts';
import { encode, isObject } from '../json/json-value.ts';
import type { Message } from '../mcp/message.ts';
import { META } from '../mcp/meta.ts';
import { silentClient } from '../pipeline/silent-client.ts';
import { createHeartbeat } from '../timing/shared-timers.ts';
import { createLegacyServer, type LegacyServer } from './era-2025-11-25/legacy-server.ts';
import type { SharedSessions } from './era-2025-11-25/sessions/session-store.ts';
import { createModernServer, MODERN_VERSIONS } from './era-2026-07-28/modern-server.ts';
import { unsupportedVersion } from './era-2026-07-28/validate-headers.ts';
import type { SseOptions } from './http-sse/message-uri.ts';
import { createSseServer } from './http-sse/sse-server.ts';
import type { Exchange, ProtocolServer, ProtocolServerParts, ServedPath } from './protocol-server.ts';
import { createWithdrawnStreams } from './withdrawn-streams.ts';

/** What a protocol router is made with. */
export interface ProtocolRouterParts extends Omit<ProtocolServerParts, 'heartbeat' | 'withdrawn'> {
  /** The legacy sessions of all replicas. */
  readonly sharedSessions?: SharedSessions | undefined;
  onSessionEnded(ended: SessionEnded): void;
  /** Serves the transport HTTP+SSE too. */
  readonly sse?: SseOptions | undefined;
}

/** The protocol servers of one endpoint, and the choice between them for each request. */
export type ProtocolRouter = ReturnType<typeof createProtocolRouter>;

/** Makes the protocol servers of one endpoint. */
export function createProtocolRouter({
  service,
  limits,
  bytes,
  log,
  now,
  sharedSessions,
  onSessionEnded,
  sse: sseOptions,
  strictProtocolVersion = true,
}: ProtocolRouterParts) {
  const heartbeat = createHeartbeat(limits.keepAliveMs, (cause) =>
    log.error('keep-alive failed', { cause: explainCause(cause) }),
  );
  const withdrawn = createWithdrawnStreams(limits.keepAliveMs);
  const parts: ProtocolServerParts = { service, limits, bytes, log, heartbeat, withdrawn, now, strictProtocolVersion };
  const describeServer = once(() => service.describeServer(GATEWAY_CLIENT));
  const serverInfo = once(() => encode(describeServer().serverInfo));
  const supported = once(() => servers.filter(isServed).flatMap(({ versions }) => versions.slice(0, 1)));
  const legacy = createLegacyServer({ ...parts, sharedSessions, onSessionEnded });
  const modern = createModernServer({ ...parts, supported, serverInfo });
  const servers: readonly ProtocolServer[] = [modern, legacy];
  const isServed = (server: ProtocolServer): boolean => describeServer().eras.includes(server.era);
  const byEra = new Map<Era, ProtocolServer>(servers.map((server) => [server.era, server]));
  const sse = sseOptions && createSseServer({ ...parts, ...sseOptions, legacy, isServed: () => isServed(legacy) });

  const serverOf = (message: Message, era: Era, headers: Inbound['headers']): ProtocolServer | WireError => {
    const server = byEra.get(era);
    if (server !== undefined && isServed(server)) return server;
    // Without the modern era the probe of modern clients is answered like older servers do; they continue with
    // initialize.
    if (message.kind === 'request' && message.method === 'server/discover') return legacy;
    return unsupportedVersion(claimOf(message) ?? headers['mcp-protocol-version'], supported());
  };

  const streamable: ServedPath = {
    takesMessages: true,
    serverFor: ({ headers }: Inbound, message: Message) => serverOf(message, eraOf(message, headers, legacy), headers),
    bodiless(method: string): ((exchange: Exchange) => void | Promise<void>) | undefined {
      if (method !== 'GET' && method !== 'DELETE') return undefined;
      return servers.find((server) => server.methods[method] !== undefined && isServed(server))?.methods[method];
    },
    allow(): Readonly<Record<string, string>> {
      const more = servers.filter(isServed).flatMap(({ methods }) => Object.keys(methods));
      return { allow: ['POST', ...more].join(', ') };
    },
  };

  return {
    /** What the path of MCP serves: streamable HTTP. */
    streamable,
    /** What a path of the transport HTTP+SSE serves; `undefined` for other paths. */
    sseAt: (path: string): ServedPath | undefined => sse?.at(path),
    /** Sessions of clients with a connection. */
    connected: legacy.connected,
    /** The server of a message of such a client, or why there is none. */
    serverOf: (message: Message, hasSession: boolean) =>
      serverOf(message, hasSession ? legacy.era : eraOf(message, NO_HEADERS, legacy), NO_HEADERS),
    counts() {
      const sessions = servers.reduce((sum, server) => sum + server.sessions(), 0);
      return { sessions, streams: heartbeat.streams.size };
    },
    close() {
      for (const server of servers) server.close();
      sse?.close();
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      sse?.stop();
      heartbeat.stop();
      withdrawn.stop();
    },
  };
}

const NO_HEADERS: Inbound['headers'] = {};

/** The client for which the gateway reads its own server info. */
const GATEWAY_CLIENT = silentClient({ key: 'gateway', caller: ANONYMOUS, capabilities: {}, capabilityClass: '' });

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * The era of a message. In this order: a legacy version header together with a live session, whatever reserved keys the
 * body has; the version in the body; `initialize`; a header with a modern version. Everything else is legacy traffic.
 * Source: MCP 2026-07-28 streamable HTTP, compatibility.
 */
function eraOf(message: Message, headers: Inbound['headers'], legacy: LegacyServer): Era {
  if (headers['mcp-session-id'] !== undefined && legacy.isLegacySession(headers)) return '2025-11-25';
  if (claimOf(message) !== undefined) return '2026-07-28';
  if (message.kind === 'request' && message.method === 'initialize') return '2025-11-25';
  const named = headers['mcp-protocol-version']?.trim();
  return named !== undefined && isModern(named) ? '2026-07-28' : '2025-11-25';
}

/** The version that the body claims. */
export function claimOf(message: Message): JsonValue | undefined {
  if (message.kind === 'response') return undefined;
  const meta = message.given._meta;
  return isObject(meta) ? meta[META.protocolVersion] : undefined;
}

function isModern(version: string): boolean {
  return (MODERN_VERSIONS as readonly string[]).includes(version);
}
