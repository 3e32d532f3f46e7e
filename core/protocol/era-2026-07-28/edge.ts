import type { Asker } from '../../contract/call.ts';
import type { RawJson } from '../../contract/json.ts';
import { explainCause } from '../../errors.ts';
import type { Edge, EdgeParts, Exchange } from '../edge.ts';
import { errorBytes, errorFromRefusal, INTERNAL, resultParts } from '../envelope.ts';
import { CODE, wireError } from '../errors.ts';
import { HOUSE_METHODS } from '../house-methods.ts';
import type { Answer, Intent } from '../intent.ts';
import type { Message, RequestMessage } from '../message.ts';
import { encode, isObject, RawObject } from '../raw-json.ts';
import { RequestIntent } from '../request-intent.ts';
import { type Envelope, readEnvelope } from './ladder.ts';
import { openListen } from './listen.ts';
import { createListenHub, type ListenHub } from './listen-hub.ts';
import { mirrorMismatch, tooManyParams } from './mirrored-params.ts';
import { createOwners, type Owners } from './owners.ts';
import { modernResult, ownMeta } from './results.ts';
import { ANSWER_HEADERS, WaitingAnswer } from './waiting-answer.ts';

/** Revisions of the stateless era, newest first. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;

/** What the modern edge works with besides the common parts. */
export interface ModernParts extends EdgeParts {
  /** The versions of every era served here, for `supportedVersions` and -32022. */
  readonly supported: () => readonly string[];
  /** `serverInfo` of the gateway, encoded. */
  readonly serverInfo: () => RawJson;
}

/** Serves MCP 2026-07-28: no session, every request complete in itself, a closed connection is a cancelled call. */
export function createModernEdge(parts: ModernParts): Edge {
  const hub = createListenHub();
  const owners = createOwners(hub.sinkOf, parts.house.listClass);
  const streams = { open: 0 };
  const room: Room = { ...parts, hub, owners, streams };
  const unsubscribe = parts.house.onListsChanged((change) => hub.listsChanged(change));
  return {
    era: '2026-07-28',
    versions: MODERN_VERSIONS,
    methods: {},
    post(exchange, message) {
      if (message.kind === 'request') return answerRequest(room, exchange, message);
      return acknowledge(exchange, message);
    },
    counts: () => ({ sessions: 0, streams: streams.open + hub.size }),
    close: () => hub.finishAll(),
    async stop() {
      hub.finishAll();
      unsubscribe();
    },
  };
}

interface Room extends ModernParts {
  readonly hub: ListenHub;
  readonly owners: Owners;
  readonly streams: { open: number };
}

/** A modern client has nothing to answer, and core defines no notification of it over HTTP: both are taken and ignored. */
function acknowledge({ responder }: Exchange, message: Exclude<Message, RequestMessage>): void {
  if (message.kind === 'notification') return responder.send(202, { 'cache-control': 'private, no-store' });
  const error = wireError(CODE.invalidRequest, 'clients of this version post requests and notifications only');
  responder.send(400, ANSWER_HEADERS, errorBytes(encode(message.key), error));
}

async function answerRequest(room: Room, exchange: Exchange, message: RequestMessage): Promise<void> {
  const { inbound, responder, caller } = exchange;
  const { headers } = inbound;
  const envelope = readEnvelope(message, headers, { versions: MODERN_VERSIONS, supported: room.supported() });
  if ('error' in envelope) return refuse(exchange, message, envelope.error.status ?? 400, envelope.error);
  const serve = OWN_METHODS.get(message.method);
  const isForHouse = serve === undefined && HOUSE_METHODS.has(message.method);
  if (serve === undefined && !isForHouse) {
    return refuse(exchange, message, 404, wireError(CODE.methodNotFound, `method ${message.method} is not served`));
  }
  const owner = room.owners.of(caller, envelope.capabilities, envelope.rawCapabilities);
  const waiting = new WaitingAnswer({
    id: message.id,
    responder,
    accept: isForHouse ? headers.accept : undefined,
    logLevel: envelope.logLevel,
    hasProgressToken: envelope.progressToken !== undefined,
    bufferBytes: room.limits.streamBufferBytes,
    pulse: room.pulse,
    streams: room.streams,
  });
  const asker = askerFrom(envelope, owner, waiting);
  const intent = new RequestIntent(message, exchange, asker);
  const mismatch = checkMirrored(room, message, exchange, asker);
  try {
    if (mismatch !== undefined) {
      const objection = await room.house.objection?.(intent); // a hint at headers would tell that the tool is there
      return objection === undefined ? waiting.error(mismatch) : settle(room, message, intent, waiting, objection);
    }
    if (serve === undefined) settle(room, message, intent, waiting, await room.house.answer(intent));
    else await serve(room, exchange, message, intent);
  } catch (cause) {
    room.log.error('a request failed', { method: message.method, cause: explainCause(cause) });
    waiting.error({ ...INTERNAL, status: 500 });
  }
}

type Serve = (room: Room, exchange: Exchange, message: RequestMessage, intent: Intent) => void | Promise<void>;

const discover: Serve = (room, { responder }, message, intent) => {
  const { capabilities, instructions } = room.house.face(intent.asker);
  const result = RawObject.empty()
    .with('supportedVersions', encode(room.supported()))
    .with('capabilities', encode(capabilities))
    .with('resultType', encode('complete'))
    .with('ttlMs', encode(0))
    .with('cacheScope', encode('private'))
    .with('_meta', ownMeta(room.serverInfo()));
  const whole = instructions === undefined ? result : result.with('instructions', encode(instructions));
  responder.send(200, ANSWER_HEADERS, resultParts(message.id, [whole.toBytes()]));
};

const listen: Serve = (room, exchange, message, intent) =>
  openListen(room, exchange, message, intent, room.serverInfo());

/** Served is this and {@link HOUSE_METHODS}; the rest is 404, removed methods of older revisions too. */
const OWN_METHODS: ReadonlyMap<string, Serve> = new Map([
  ['server/discover', discover],
  ['subscriptions/listen', listen],
]);

function settle(room: Room, message: RequestMessage, intent: Intent, waiting: WaitingAnswer, answer: Answer): void {
  if ('result' in answer) {
    if (!isNegotiated(answer.result.resultType, intent.asker)) {
      return waiting.error(
        wireError(CODE.internalError, 'the backend answered a kind of result that was not negotiated'),
      );
    }
    return waiting.result(modernResult(message, answer.result, room.serverInfo()));
  }
  if ('ready' in answer) return waiting.result([answer.ready]);
  if ('error' in answer) return waiting.error(answer.error);
  const { refusal } = answer;
  const status = refusal.status === 429 ? 200 : refusal.status; // a limited call is an answer, not a failed request
  waiting.error({ ...errorFromRefusal(refusal), status }, refusal.headers);
}

/** Result types beyond the core's two come with extensions; a client without any could not read them. */
function isNegotiated(resultType: string, { capabilities }: Asker): boolean {
  return resultType === 'complete' || resultType === 'input_required' || isObject(capabilities.extensions);
}

function checkMirrored({ house, limits }: Room, message: RequestMessage, { inbound }: Exchange, asker: Asker) {
  if (message.method !== 'tools/call') return undefined;
  const excess = tooManyParams(inbound.headers, limits.mirroredHeaders);
  if (excess !== undefined) return excess;
  const mirrored = house.mirrored?.(message.given.name as string, asker); // equals the Mcp-Name header: a string
  return mirrored === undefined ? undefined : mirrorMismatch(mirrored, inbound.headers, message.given.arguments);
}

function refuse(
  { responder }: Exchange,
  { id }: RequestMessage,
  status: number,
  error: Parameters<typeof errorBytes>[1],
) {
  responder.send(status, ANSWER_HEADERS, errorBytes(id, error));
}

function askerFrom(envelope: Envelope, owner: Asker['owner'], waiting: WaitingAnswer): Asker {
  return {
    era: '2026-07-28',
    capabilities: envelope.capabilities,
    clientInfo: envelope.clientInfo,
    owner,
    progressToken: envelope.progressToken,
    logLevel: envelope.logLevel,
    tell: (method, params) => waiting.tell(method, params),
  };
}
