import { CODE, wireError } from '../../mcp/errors.ts';
import { MessageWriter } from '../message-writer.ts';
import type { Exchange, ProtocolServerParts } from '../protocol-server.ts';
import { sendError } from '../refuse.ts';
import type { MessageStream } from '../replies.ts';
import { pushListsChanged } from './client-requests.ts';
import type { ResumableStream } from './sessions/resumable-stream.ts';
import type { Session } from './sessions/session.ts';

/**
 * Connects a client to a stream of its session: to the session's own stream, or, with `Last-Event-ID`, to the stream of
 * that event, after that event.
 *
 * The session's own stream of another replica is continued by the one of this replica, which begins with notifications that
 * all lists may have changed.
 *
 * Fails on the wire: 409 when the session's own stream already has a connection; 400 for an unknown id or a stream that
 * is not stored any more. A resumption replaces the old connection, which the client has lost.
 */
export function connectStream(parts: ProtocolServerParts, { inbound, replies }: Exchange, session: Session): void {
  const refuse = (status: number, text: string): void =>
    sendError(replies, status, wireError(CODE.invalidRequest, text));
  const lastEventId = inbound.headers['last-event-id'];
  const [, id, seq] = lastEventId === undefined ? [] : (EVENT_ID.exec(lastEventId) ?? []);
  if (lastEventId !== undefined && id === undefined) return refuse(400, 'Last-Event-ID was not issued by this server');
  // The other replica has stopped, or the load balancer chose this one. What it sent meanwhile is not known here.
  const isElsewhere = id !== undefined && session.isStandaloneElsewhere(id);
  const stream = id === undefined || isElsewhere ? session.standalone : session.stream(id);
  if (stream === undefined)
    return refuse(400, 'the stream of Last-Event-ID is not on this replica or cannot be resumed any more');
  if (id === undefined && stream.isConnected)
    return refuse(409, 'the event stream of this session is already connected');
  const detach = attach(
    parts,
    session,
    stream,
    replies.stream(),
    seq === undefined || isElsewhere ? undefined : Number(seq),
  );
  if (isElsewhere) pushListsChanged(session, ['tools', 'prompts', 'resources']);
  replies.onDisconnect(detach);
}

/** Sends a stream of a session to `messages`, until the token of the client is withdrawn. Returns what to call when the connection is lost. */
export function attach(
  { limits, withdrawn }: ProtocolServerParts,
  { caller }: Session,
  stream: ResumableStream,
  messages: MessageStream,
  after?: number,
): () => void {
  const writer = new MessageWriter(messages, limits.streamBufferBytes);
  stream.attach(writer, after);
  const end = (): void => {
    writer.end();
    stream.detach(writer);
  };
  withdrawn.watch(caller, { isOpen: () => writer.isOpen, end });
  return () => stream.detach(writer);
}

const EVENT_ID = /^([0-9a-z]{1,12})-(\d{1,15})$/;
