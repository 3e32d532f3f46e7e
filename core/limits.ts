import { z } from 'zod';

/**
 * Every limit of the gateway by name, with its default. The plan's `limits` sets them; the reference page lists them.
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
    .describe(
      'connections of clients; over it the oldest idle connection of the address with the most connections is closed',
    ),
  connectionsPerAddress: z
    .int()
    .min(1)
    .default(5_000)
    .describe('connections from one address (IPv6: /64); over it the oldest idle one is closed'),
  objectMembers: z
    .int()
    .min(64)
    .default(10_000)
    .describe(
      'members of one JSON object, at any depth; over it 400 -32600, in a message of a backend BACKEND_TOO_LARGE',
    ),
  messageContainers: z
    .int()
    .min(256)
    .default(100_000)
    .describe('objects and arrays in one message of a client, at any depth; over it 400 -32600'),
  messageValues: z
    .int()
    .min(256)
    .default(1_000_000)
    .describe('members and elements in one message of a client, at any depth; over it 400 -32600'),
  nameBytes: z
    .int()
    .min(64)
    .default(1_024)
    .describe('largest name of a tool or prompt; over it -32602, and such an entry of a backend is not listed'),
  uriBytes: z
    .int()
    .min(64)
    .default(8_192)
    .describe('largest URI or URI template; over it -32602, and such an entry of a backend is not listed'),
  bodyTimeoutMs: z.int().min(100).default(30_000).describe('longest time a request body may take to arrive; then 408'),
  mirroredHeaders: z.int().min(0).default(64).describe('most Mcp-Param-* headers in one request; over it 400 -32020'),
  resultBytes: z
    .int()
    .min(1024)
    .default(104_857_600)
    .describe('largest answer of a backend; over it BACKEND_TOO_LARGE'),
  resultValues: z
    .int()
    .min(256)
    .default(2_000_000)
    .describe('members and elements in one message of a backend, at any depth; over it BACKEND_TOO_LARGE'),
  frameBytes: z.int().min(1024).default(104_857_600).describe('largest SSE event or stdio line of a backend'),
  memoryBudgetBytes: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'bytes of request bodies, results and unsent responses in memory at a time; over it 503, and backends are read slower. 0 = a third of the memory limit of the control group, or of the heap limit where there is none',
    ),
  memoryWaitMs: z
    .int()
    .min(0)
    .default(10_000)
    .describe('time that a result waits for space in the memory budget; then MEMORY_SPENT'),
  sendTimeoutMs: z
    .int()
    .min(100)
    .default(30_000)
    .describe('a client that reads nothing of its response for this long is disconnected'),
  inFlightPerBackend: z.int().min(1).default(512).describe('concurrent calls of one backend; more wait in its queue'),
  inFlightPerCaller: z
    .int()
    .min(1)
    .default(256)
    .describe('concurrent calls of one caller at one backend; more wait in its queue'),
  queuePerBackend: z
    .int()
    .min(0)
    .default(1024)
    .describe(
      'calls that may wait for one backend; over it the oldest call of the caller with the most waiting calls ends with BACKEND_BUSY',
    ),
  queuePerCaller: z
    .int()
    .min(0)
    .default(768)
    .describe('calls of one caller that may wait for one backend; over it BACKEND_BUSY'),
  linksPerBackend: z.int().min(1).default(6000).describe('open backend sessions of one HTTP backend'),
  linksPerCaller: z
    .int()
    .min(1)
    .default(3000)
    .describe('open sessions of one caller with one HTTP backend; over it the oldest is closed'),
  processesPerBackend: z.int().min(1).default(32).describe('processes of one stdio backend, one per client session'),
  sessionsPerAskedCaller: z
    .int()
    .min(1)
    .default(8)
    .describe(
      'sessions of one 2026-07-28 caller (anonymous: of one network) with one 2025-11-25 backend for calls that may receive server requests, when the transport does not say which call such a request belongs to; each of these calls has a session of its own; more wait',
    ),
  processesPerCaller: z
    .int()
    .min(1)
    .default(16)
    .describe('processes of one stdio backend for one caller; over it the oldest is ended'),
  processChurnMs: z
    .int()
    .min(0)
    .default(1_000)
    .describe(
      'a caller at its limit of processes may replace its oldest process once in this time; otherwise BACKEND_BUSY',
    ),
  linkIdleMs: z.int().min(1000).default(300_000).describe('a backend session without calls for this long is closed'),
  streamsPerCaller: z.int().min(1).default(64).describe('open event streams of one caller; over it 429'),
  streamBufferBytes: z.int().min(1024).default(1_048_576).describe('unsent bytes of a stream before logs are dropped'),
  replayEvents: z.int().min(0).default(256).describe('events kept per stream for Last-Event-ID'),
  replayBytes: z.int().min(0).default(1_048_576).describe('bytes kept per stream for Last-Event-ID'),
  sessions: z
    .int()
    .min(1)
    .default(10_000)
    .describe('legacy client sessions; over it the oldest session of the caller with the most sessions ends, or 503'),
  sessionsPerCaller: z
    .int()
    .min(1)
    .default(5_000)
    .describe('legacy sessions of one caller; over it the oldest without a running call ends'),
  sessionIdleMs: z.int().min(100).default(1_800_000).describe('a legacy session without requests for this long ends'),
  sessionCheckMs: z
    .int()
    .min(0)
    .default(2_000)
    .describe(
      'with a session store: longest time until this replica notices that another one ended a session; 0 = checked at every request',
    ),
  pageWalk: z.int().min(1).default(1000).describe('pages read from one backend list'),
  listItems: z.int().min(1).default(50_000).describe('items read from one backend list'),
  pageSize: z
    .int()
    .min(1)
    .default(1000)
    .describe('items on one list page for modern clients; legacy clients get one page of up to 10 times as many'),
  callerLists: z
    .int()
    .min(1)
    .default(1000)
    .describe('callers whose lists are cached per backend, for backends whose lists depend on the caller'),
  callTimeoutMs: z.int().min(10).default(30_000).describe('time for one backend answer; progress restarts it'),
  callTotalMs: z.int().min(10).default(3_600_000).describe('longest duration of one call, with or without progress'),
  askTimeoutMs: z.int().min(100).default(600_000).describe('time a user has to answer a request of a backend'),
  parkedCalls: z
    .int()
    .min(0)
    .default(256)
    .describe('suspended calls: calls of modern clients that wait for the answer of the client to a legacy backend'),
  parkedPerCaller: z.int().min(0).default(64).describe('suspended calls of one modern client; over it the oldest ends'),
  rounds: z.int().min(1).default(10).describe('input_required rounds of one call'),
  requestStateBytes: z.int().min(256).default(65_536).describe('largest accepted requestState'),
  requestStateTtlMs: z
    .int()
    .min(1000)
    .max(86_400_000)
    .default(600_000)
    .describe('a requestState is valid for this long'),
  // Claude Code ends a tools/list, and Gemini CLI an initialize over stdio, after 5 s; starting the gateway counts too.
  discoveryMs: z
    .int()
    .min(10)
    .default(3_000)
    .describe('time that lists wait for the first snapshot of every source and for the first answer of new backends'),
  firstStartMs: z
    .int()
    .min(10)
    .default(300_000)
    .describe('time for the first start of a program, the installation of its package (npx, uvx) included'),
  helloMs: z
    .int()
    .min(10)
    .default(10_000)
    .describe(
      'time for the response to a probe or initialize (a program may take four times as long as at its last starts); a call of a name that no list has waits as long for lists that are being read',
    ),
  listTtlMs: z
    .int()
    .min(0)
    .max(86_400_000)
    .default(5_000)
    .describe(
      '`ttlMs` of the lists of this gateway: for so long clients may keep them; less when a backend that announces no changes calls its list valid for less. Such a list is not read again within this time',
    ),
  listGraceMs: z.int().min(0).default(60_000).describe('lists of an unavailable backend are served for this long'),
  keepAliveMs: z.int().min(100).default(15_000).describe('interval of comment lines on idle event streams'),
  coalesceMs: z.int().min(0).default(150).describe('changes within this time are sent to clients as one notification'),
  blockedMs: z
    .int()
    .min(0)
    .default(100)
    .describe(
      'a plugin that runs longer without a pause is named in the log, by the hook `loopBlocked` and in `toolmgr status`; 0 = nothing is measured',
    ),
  stopMs: z.int().min(0).default(10_000).describe('time for calls in flight when the gateway stops'),
  instructionsBytes: z.int().min(0).default(16_384).describe('largest instructions text given to clients'),
});

/** All limits of one gateway. */
export type Limits = z.output<typeof limitsSchema>;

/** All defaults. */
export const DEFAULT_LIMITS: Limits = limitsSchema.parse({});
