import { z } from 'zod';

/**
 * Every bound of the gateway by name, with its default. The plan's `limits` sets them; the reference page lists them.
 * Sizes in bytes, times in milliseconds, the rest are counts.
 */
export const limitsSchema = z.strictObject({
  bodyBytes: z.int().min(1024).default(8_388_608).describe('largest request body; over it 413 with JSON-RPC -32600'),
  headerBytes: z
    .int()
    .min(1024)
    .default(32_768)
    .describe('largest request head; over it 431. The listener of a host applies it'),
  headerTimeoutMs: z
    .int()
    .min(1000)
    .default(10_000)
    .describe('longest time a request head may take to arrive; then 408. The listener of a host applies it'),
  connections: z
    .int()
    .min(1)
    .default(10_000)
    .describe('connections of clients; over it the address with the most loses its oldest without a request'),
  connectionsPerAddress: z
    .int()
    .min(1)
    .default(5_000)
    .describe('connections from one address (IPv6: /64); over it its oldest without a request is closed'),
  objectMembers: z
    .int()
    .min(64)
    .default(10_000)
    .describe('members of one JSON object, at any depth; over it 400 -32600, from a backend BACKEND_TOO_LARGE'),
  messageContainers: z
    .int()
    .min(256)
    .default(100_000)
    .describe('objects and arrays in one message of a client, at any depth; over it 400 -32600'),
  bodyTimeoutMs: z.int().min(100).default(30_000).describe('longest time a request body may take to arrive; then 408'),
  mirroredHeaders: z.int().min(0).default(64).describe('most Mcp-Param-* headers in one request; over it 400 -32020'),
  resultBytes: z
    .int()
    .min(1024)
    .default(104_857_600)
    .describe('largest answer of a backend; over it BACKEND_TOO_LARGE'),
  frameBytes: z.int().min(1024).default(104_857_600).describe('largest SSE event or stdio line of a backend'),
  inFlightPerBackend: z.int().min(1).default(512).describe('calls a backend works on at once; more wait in its queue'),
  inFlightPerCaller: z
    .int()
    .min(1)
    .default(256)
    .describe('calls a backend works on at once for one caller; more wait in its queue'),
  queuePerBackend: z
    .int()
    .min(0)
    .default(1024)
    .describe('calls that may wait for one backend; over it the oldest of the caller with the most is BACKEND_BUSY'),
  queuePerCaller: z
    .int()
    .min(0)
    .default(768)
    .describe('calls of one caller that may wait for one backend; over it BACKEND_BUSY'),
  linksPerBackend: z.int().min(1).default(6000).describe('backend sessions kept open to one HTTP backend'),
  linksPerCaller: z
    .int()
    .min(1)
    .default(3000)
    .describe('backend sessions kept open to one HTTP backend for one caller; its oldest makes room'),
  processesPerBackend: z.int().min(1).default(32).describe('processes of one stdio backend, one per client session'),
  sessionsPerAskedCaller: z
    .int()
    .min(1)
    .default(8)
    .describe(
      'sessions with one 2025-11-25 backend for calls of one 2026-07-28 caller (without identity: network) that may be asked, a session each, where the transport does not say which call is asked; more wait',
    ),
  processesPerCaller: z
    .int()
    .min(1)
    .default(16)
    .describe('processes of one stdio backend for one caller; its oldest makes room'),
  processChurnMs: z
    .int()
    .min(0)
    .default(1_000)
    .describe(
      'a caller with its share of processes of a backend gets another in place of its oldest once in this time; else BACKEND_BUSY',
    ),
  linkIdleMs: z.int().min(1000).default(300_000).describe('a backend session without calls for this long is closed'),
  streamsPerCaller: z.int().min(1).default(64).describe('event streams one caller may hold open; over it 429'),
  streamBufferBytes: z.int().min(1024).default(1_048_576).describe('unsent bytes of a stream before logs are dropped'),
  replayEvents: z.int().min(0).default(256).describe('events kept per stream for Last-Event-ID'),
  replayBytes: z.int().min(0).default(1_048_576).describe('bytes kept per stream for Last-Event-ID'),
  sessions: z
    .int()
    .min(1)
    .default(10_000)
    .describe('legacy client sessions; over it the oldest of the caller with the most ends, or 503'),
  sessionsPerCaller: z
    .int()
    .min(1)
    .default(5_000)
    .describe('legacy sessions of one caller; over it its oldest without a running call ends'),
  sessionIdleMs: z.int().min(100).default(1_800_000).describe('a legacy session without requests for this long ends'),
  sessionCheckMs: z
    .int()
    .min(0)
    .default(2_000)
    .describe(
      'with a session store: a session that another replica ended is served here at most this long; 0 = not at all',
    ),
  pageWalk: z.int().min(1).default(1000).describe('pages read from one backend list'),
  listItems: z.int().min(1).default(50_000).describe('items read from one backend list'),
  pageSize: z
    .int()
    .min(1)
    .default(1000)
    .describe('items of one list page towards modern clients; legacy get one page up to 10 of these'),
  callerLists: z
    .int()
    .min(1)
    .default(1000)
    .describe('callers whose own lists are kept per backend, where a backend lists for its callers only'),
  callTimeoutMs: z.int().min(10).default(30_000).describe('time for one backend answer; progress starts it again'),
  callTotalMs: z.int().min(10).default(3_600_000).describe('longest one call may take, progress or not'),
  askTimeoutMs: z.int().min(100).default(600_000).describe('time a person has to answer a question of a backend'),
  parkedCalls: z
    .int()
    .min(0)
    .default(256)
    .describe('calls of modern clients that wait for an answer to a legacy backend'),
  parkedPerCaller: z
    .int()
    .min(0)
    .default(64)
    .describe('calls of one modern client that wait like this; over it its oldest ends'),
  rounds: z.int().min(1).default(10).describe('input_required rounds of one call'),
  requestStateBytes: z.int().min(256).default(65_536).describe('largest requestState that is opened'),
  requestStateTtlMs: z.int().min(1000).default(600_000).describe('a sealed requestState is good for this long'),
  discoveryMs: z
    .int()
    .min(10)
    .default(5_000)
    .describe(
      'time that lists wait for the first snapshot of every source, and then for the first answer of new backends',
    ),
  firstStartMs: z
    .int()
    .min(10)
    .default(300_000)
    .describe('time for the first start of a program, the installation of its package (npx, uvx) included'),
  helloMs: z.int().min(10).default(10_000).describe('time for one probe or initialize answer'),
  listGraceMs: z.int().min(0).default(60_000).describe('lists of a backend that is away are served for this long'),
  keepAliveMs: z.int().min(100).default(15_000).describe('comment lines on idle event streams'),
  coalesceMs: z.int().min(0).default(150).describe('changes within this time reach clients as one notification'),
  stopMs: z.int().min(0).default(10_000).describe('time for calls in flight when the gateway stops'),
  instructionsBytes: z.int().min(0).default(16_384).describe('largest instructions text given to clients'),
});

/** The bounds of one gateway, all set. */
export type Limits = z.output<typeof limitsSchema>;

/** All defaults. */
export const DEFAULT_LIMITS: Limits = limitsSchema.parse({});
