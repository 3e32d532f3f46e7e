import type { ClientContext, ClientResponse, SessionListener } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import { encode } from '../../json/json-value.ts';
import { RawObject } from '../../json/raw-json.ts';
import { notificationParts } from '../../mcp/envelope.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { isLogWanted } from '../../mcp/log-levels.ts';
import { withoutPerHop } from '../../mcp/meta.ts';
import { listChangedMethod } from '../../mcp/methods.ts';
import { canAnswer } from '../../mcp/server-requests.ts';
import type { ListsChanged } from '../../pipeline/gateway-service.ts';
import { DROPPABLE, MUST } from '../message-writer.ts';
import type { RunningCall, Session } from './sessions/session.ts';

/**
 * A request of a backend as it may be sent to the client; an error for the backend when the client did not declare the
 * capability.
 */
export function relayableRequest(
  session: Session,
  method: string,
  params: RawJson,
): { readonly params: RawJson } | Extract<ClientResponse, { error: unknown }> {
  if (canAnswer(session.capabilities, { method, params })) return { params: withoutPerHop(params) };
  return { error: wireError(CODE.methodNotFound, `the client does not support ${method}`) };
}

/** Sends what the session's backends send outside calls to the session's own stream. */
export function sessionSink(session: Session, askTimeoutMs: number): SessionListener {
  return {
    resourceUpdated(backend, params) {
      const uri = RawObject.parse(params).string('uri');
      if (uri === undefined || !isWatched(session, backend, uri)) return;
      const method = 'notifications/resources/updated';
      session.standalone.push({ latest: uri }, notificationParts(method, withoutPerHop(params)));
    },
    logged(_workload, params) {
      if (!isLogWanted(params, session.logLevel)) return;
      session.standalone.push(DROPPABLE, notificationParts('notifications/message', withoutPerHop(params)));
    },
    listsChanged: (_workload, kinds) => pushListsChanged(session, kinds),
    notified(_workload, method, params) {
      if (!OUTSIDE_CALLS.has(method)) return;
      session.standalone.push(MUST, notificationParts(method, withoutPerHop(params)));
    },
    async request(method, params, signal) {
      // The request may belong to any call: without a stream of its own the session gets it on the stream of a call.
      const call = session.standalone.isConnected ? undefined : callWithStream(session);
      if (call?.request !== undefined) return call.request(method, params, signal);
      const question = relayableRequest(session, method, params);
      if ('error' in question) return question;
      return session.questions.put(session.standalone, method, question.params, signal, askTimeoutMs);
    },
  };
}

function callWithStream(session: Session): RunningCall | undefined {
  return session.calls.values().find(({ mayStream }) => mayStream === true);
}

/** Notifies the client of changed lists; a kind that it has not fetched yet is not repeated. */
export function pushListsChanged(session: Session, kinds: ListsChanged['kinds']): void {
  for (const kind of kinds) {
    const method = listChangedMethod(kind);
    session.standalone.push({ latest: method }, notificationParts(method, EMPTY_PARAMS));
  }
}

const EMPTY_PARAMS = encode({});

/** Notifications that may follow long after their call (MCP 2025-11-25, elicitation in URL mode). */
const OUTSIDE_CALLS: ReadonlySet<string> = new Set(['notifications/elicitation/complete']);

/** A backend may update only its own resources: the subscribed one, or one below it (MCP resources, updated). */
function isWatched(session: Session, backend: string, uri: string): boolean {
  if (session.watches.get(uri)?.backend === backend) return true;
  for (const [watched, entry] of session.watches) {
    if (entry.backend === backend && uri.startsWith(`${watched}/`)) return true;
  }
  return false;
}

/** The session as the client of messages that belong to no call: the sink of the owner handles those. */
export function sessionClient(session: Session): ClientContext {
  return clientOf(session, undefined, () => {}, session.owner.sink?.request);
}

/** The client side of a message of a session. */
export function clientOf(
  session: Session,
  progressToken: Buffer | undefined,
  notify: ClientContext['notify'],
  request: ClientContext['request'],
): ClientContext {
  return {
    era: '2025-11-25',
    protocolVersion: session.protocolVersion,
    capabilities: session.capabilities,
    clientInfo: session.clientInfo,
    owner: session.owner,
    progressToken,
    logLevel: session.logLevel,
    notify,
    request,
  };
}
