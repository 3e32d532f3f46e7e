import type { ClientContext } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { explainCause } from '../../errors.ts';
import { encode, isObject } from '../../json/json-value.ts';
import { RawObject } from '../../json/raw-json.ts';
import { errorFromRefusal, headersOfRefusal, INTERNAL, resultParts } from '../../mcp/envelope.ts';
import { CODE, echoed, wireError } from '../../mcp/errors.ts';
import type { Message, RequestMessage } from '../../mcp/message.ts';
import { GATEWAY_METHODS } from '../../mcp/methods.ts';
import type { Answer, McpRequest } from '../../pipeline/mcp-request.ts';
import { cancellationOf } from '../../timing/cancel.ts';
import type { Exchange, ProtocolServer, ProtocolServerParts } from '../protocol-server.ts';
import { sendError } from '../refuse.ts';
import { openListen } from './listen.ts';
import { createListenHub, type ListenHub } from './listen-hub.ts';
import { ANSWER_HEADERS, modernResult, ownMeta, PendingResponse } from './response.ts';
import { createSessionOwners, type SessionOwners } from './session-owners.ts';
import { type Envelope, mirrorMismatch, readEnvelope, tooManyParams } from './validate-headers.ts';

/** Revisions of the stateless era, newest first. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;

/** What the modern server needs besides the common parts. */
export interface ModernParts extends ProtocolServerParts {
  /** The versions of all eras served here, for `supportedVersions` and -32022. */
  readonly supported: () => readonly string[];
  /** The gateway's `serverInfo`, encoded. */
  readonly serverInfo: () => RawJson;
}

/** Serves MCP 2026-07-28: no sessions, self-contained requests; a closed connection cancels the call. */
export function createModernServer(parts: ModernParts): ProtocolServer {
  const hub = createListenHub();
  const owners = createSessionOwners(hub.sinkOf, parts.service.listClass);
  const context: ServerContext = { ...parts, hub, owners };
  const unsubscribe = parts.service.onListsChanged((change) => hub.listsChanged(change));
  return {
    era: '2026-07-28',
    versions: MODERN_VERSIONS,
    methods: {},
    post(exchange, message) {
      if (message.kind === 'request') return answerRequest(context, exchange, message);
      return acknowledge(exchange, message);
    },
    sessions: () => 0,
    close: () => hub.finishAll(),
    async stop() {
      hub.finishAll();
      unsubscribe();
    },
  };
}

interface ServerContext extends ModernParts {
  readonly hub: ListenHub;
  readonly owners: SessionOwners;
}

/**
 * Modern clients send no responses, and the core defines no client notification over HTTP: both are accepted and
 * ignored.
 */
function acknowledge({ replies }: Exchange, message: Exclude<Message, RequestMessage>): void {
  if (message.kind === 'notification') return replies.send(202, { 'cache-control': 'private, no-store' });
  const error = wireError(CODE.invalidRequest, 'clients of this version post requests and notifications only');
  sendError(replies, 400, error, ANSWER_HEADERS, encode(message.key));
}

async function answerRequest(context: ServerContext, exchange: Exchange, message: RequestMessage): Promise<void> {
  const { inbound, replies, caller } = exchange;
  const { headers } = inbound;
  const envelope = readEnvelope(message, isMirrored(inbound) ? headers : undefined, {
    versions: MODERN_VERSIONS,
    supported: context.supported(),
  });
  if ('error' in envelope) return refuse(exchange, message, envelope.error.status ?? 400, envelope.error);
  const serve = OWN_METHODS.get(message.method);
  const isGatewayMethod = serve === undefined && GATEWAY_METHODS.has(message.method);
  if (serve === undefined && !isGatewayMethod) {
    return refuse(
      exchange,
      message,
      404,
      wireError(CODE.methodNotFound, `method ${echoed(message.method)} is not served`),
    );
  }
  const owner = context.owners.of(caller, envelope.capabilities, envelope.rawCapabilities);
  const waiting = new PendingResponse({
    id: message.id,
    replies,
    mayStream: isGatewayMethod && replies.mayStream,
    logLevel: envelope.logLevel,
    hasProgressToken: envelope.progressToken !== undefined,
    bufferBytes: context.limits.streamBufferBytes,
    heartbeat: context.heartbeat,
  });
  const client = clientFrom(envelope, owner, waiting);
  const { method, params, given } = message;
  const cancel = inbound.cancel ?? cancellationOf(inbound.signal); // a closed connection cancels the request
  const request: McpRequest = { method, params, given, caller, client, inbound, cancel };
  const mismatch = checkMirrored(context, message, exchange, client);
  try {
    if (mismatch !== undefined) {
      const objection = await context.service.objection?.(request); // an error about headers would reveal that the tool exists
      return objection === undefined ? waiting.error(mismatch) : settle(context, message, request, waiting, objection);
    }
    if (serve === undefined) settle(context, message, request, waiting, await context.service.answer(request));
    else await serve(context, exchange, message, request);
  } catch (cause) {
    context.log.error('a request failed', { method: message.method, cause: explainCause(cause) });
    waiting.error({ ...INTERNAL, status: 500 });
  }
}

type Serve = (
  context: ServerContext,
  exchange: Exchange,
  message: RequestMessage,
  request: McpRequest,
) => void | Promise<void>;

const discover: Serve = (context, { replies }, message, request) => {
  const { capabilities, instructions } = context.service.describeServer(request.client);
  const result = RawObject.empty()
    .with('supportedVersions', encode(context.supported()))
    .with('capabilities', encode(capabilities))
    .with('resultType', encode('complete'))
    .with('ttlMs', encode(0))
    .with('cacheScope', encode('private'))
    .with('_meta', ownMeta(context.serverInfo()));
  const whole = instructions === undefined ? result : result.with('instructions', encode(instructions));
  replies.send(200, ANSWER_HEADERS, resultParts(message.id, [whole.toBytes()]));
};

const listen: Serve = (context, exchange, message, request) =>
  openListen(context, exchange, message, request, context.serverInfo());

/** These and {@link GATEWAY_METHODS} are served; all others are 404, including methods removed from older revisions. */
const OWN_METHODS: ReadonlyMap<string, Serve> = new Map([
  ['server/discover', discover],
  ['subscriptions/listen', listen],
]);

function settle(
  context: ServerContext,
  message: RequestMessage,
  request: McpRequest,
  waiting: PendingResponse,
  answer: Answer,
): void {
  if ('result' in answer) {
    if (!isNegotiated(answer.result.resultType, request.client)) {
      return waiting.error(
        wireError(CODE.internalError, 'the backend answered a kind of result that was not negotiated'),
      );
    }
    return waiting.result(modernResult(message, answer.result, context.serverInfo()));
  }
  if ('ready' in answer) return waiting.result([answer.ready]);
  if ('error' in answer) return waiting.error(answer.error);
  const { refusal } = answer;
  // a rate-limited call is answered by a result
  if (refusal.status === 429) return waiting.error({ ...errorFromRefusal(refusal), status: 200 }, refusal.headers);
  waiting.error({ ...errorFromRefusal(refusal), status: refusal.status }, headersOfRefusal(refusal));
}

/** Further result types come with extensions; a client without any could not read them. */
function isNegotiated(resultType: string, { capabilities }: ClientContext): boolean {
  return resultType === 'complete' || resultType === 'input_required' || isObject(capabilities.extensions);
}

function checkMirrored(
  { service, limits }: ServerContext,
  message: RequestMessage,
  { inbound }: Exchange,
  client: ClientContext,
) {
  if (message.method !== 'tools/call' || !isMirrored(inbound)) return undefined;
  const excess = tooManyParams(inbound.headers, limits.mirroredHeaders);
  if (excess !== undefined) return excess;
  const mirrored = service.mirrored?.(message.given.name as string, client); // equals the Mcp-Name header: a string
  return mirrored === undefined ? undefined : mirrorMismatch(mirrored, inbound.headers, message.given.arguments);
}

/** Only HTTP has headers that repeat the body. */
function isMirrored({ transport }: Exchange['inbound']): boolean {
  return transport === undefined;
}

function refuse({ replies }: Exchange, { id }: RequestMessage, status: number, error: WireError) {
  sendError(replies, status, error, ANSWER_HEADERS, id);
}

function clientFrom(envelope: Envelope, owner: ClientContext['owner'], waiting: PendingResponse): ClientContext {
  return {
    era: '2026-07-28',
    capabilities: envelope.capabilities,
    clientInfo: envelope.clientInfo,
    owner,
    progressToken: envelope.progressToken,
    logLevel: envelope.logLevel,
    notify: (method, params) => waiting.notify(method, params),
  };
}
