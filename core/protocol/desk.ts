import type { Asker, WireError } from '../contract/call.ts';
import type { Era } from '../contract/era.ts';
import type { SessionEnded } from '../contract/event.ts';
import type { Inbound } from '../contract/inbound.ts';
import { explainCause } from '../errors.ts';
import type { SessionBook } from '../session/session-book.ts';
import { claimOf, eraOf } from './classify.ts';
import type { Edge, EdgeParts, Exchange } from './edge.ts';
import { createLegacyEdge } from './era-2025-11-25/edge.ts';
import { createModernEdge, MODERN_VERSIONS } from './era-2026-07-28/edge.ts';
import { unsupportedVersion } from './era-2026-07-28/ladder.ts';
import type { Message } from './message.ts';
import { createPulse } from './pulse.ts';
import { encode } from './raw-json.ts';

/** What a desk is made with. */
export interface DeskParts extends Omit<EdgeParts, 'pulse'> {
  /** The legacy sessions of all replicas. */
  readonly book?: SessionBook | undefined;
  onSessionEnded(ended: SessionEnded): void;
}

/** The edges of one endpoint, and which of them a request goes to. */
export function openDesk({ house, limits, log, now, book, onSessionEnded, strictProtocolVersion = true }: DeskParts) {
  const pulse = createPulse(limits.keepAliveMs, (cause) => log.error('a beat failed', { cause: explainCause(cause) }));
  const parts: EdgeParts = { house, limits, log, pulse, now, strictProtocolVersion };
  const face = once(() => house.face(NOBODY));
  const serverInfo = once(() => encode(face().serverInfo));
  const supported = once(() => edges.filter(isServed).flatMap(({ versions }) => versions.slice(0, 1)));
  const legacy = createLegacyEdge({ ...parts, book, onSessionEnded });
  const modern = createModernEdge({ ...parts, supported, serverInfo });
  const edges: readonly Edge[] = [modern, legacy];
  const isServed = (edge: Edge): boolean => face().eras.includes(edge.era);
  const byEra = new Map<Era, Edge>(edges.map((edge) => [edge.era, edge]));
  const evidence = { modernVersions: MODERN_VERSIONS, isLegacySession: legacy.owns };

  return {
    edgeFor(inbound: Inbound, message: Message): Edge | WireError {
      const edge = byEra.get(eraOf(message, inbound.headers, evidence));
      if (edge !== undefined && isServed(edge)) return edge;
      // Without the modern era the probe of modern clients is answered as older servers do: they go on to initialize.
      if (message.kind === 'request' && message.method === 'server/discover') return legacy;
      return unsupportedVersion(claimOf(message) ?? inbound.headers['mcp-protocol-version'], supported());
    },
    bodiless(method: string): ((exchange: Exchange) => void | Promise<void>) | undefined {
      if (method !== 'GET' && method !== 'DELETE') return undefined;
      return edges.find((edge) => edge.methods[method] !== undefined && isServed(edge))?.methods[method];
    },
    allow(): Readonly<Record<string, string>> {
      const more = edges.filter(isServed).flatMap(({ methods }) => Object.keys(methods));
      return { allow: ['POST', ...more].join(', ') };
    },
    counts() {
      const all = edges.map((edge) => edge.counts());
      return {
        sessions: all.reduce((sum, { sessions }) => sum + sessions, 0),
        streams: all.reduce((sum, { streams }) => sum + streams, 0),
      };
    },
    close: () => edges.forEach((edge) => void edge.close()),
    async stop() {
      await Promise.all(edges.map((edge) => edge.stop()));
      pulse.stop();
    },
  };
}

/** Who asks when the gateway wants to know its own face. */
const NOBODY: Asker = {
  era: '2026-07-28',
  capabilities: {},
  clientInfo: undefined,
  owner: {
    key: 'nobody',
    caller: { issuer: '', subject: 'anonymous', key: '\0anonymous', claims: {} },
    capabilities: {},
    capabilityClass: '',
  },
  progressToken: undefined,
  logLevel: undefined,
  tell: () => {},
};

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
