import { setImmediate } from 'node:timers/promises';
import type { CatalogEntry } from '../../contract/call.ts';
import type { JsonObject, JsonValue, RawJson } from '../../contract/json.ts';
import { explainCause } from '../../errors.ts';
import { encode, isObject } from '../../json/json-value.ts';
import { RawObject } from '../../json/raw-json.ts';
import { heldOf } from '../../mcp/byte-budget.ts';
import { notificationParts, resultParts } from '../../mcp/envelope.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import type { RequestMessage } from '../../mcp/message.ts';
import { endToEndMeta, META } from '../../mcp/meta.ts';
import type { ListKind } from '../../mcp/methods.ts';
import { listChangedMethod } from '../../mcp/methods.ts';
import { shareOf } from '../../mcp/shares.ts';
import type { McpRequest } from '../../pipeline/mcp-request.ts';
import type { HeartbeatListener } from '../../timing/shared-timers.ts';
import { MessageWriter, MUST, type Urgency } from '../message-writer.ts';
import type { Exchange, ProtocolServerParts } from '../protocol-server.ts';
import { sendError } from '../refuse.ts';
import type { Listener, ListenHub } from './listen-hub.ts';
import { ANSWER_HEADERS, ownMeta } from './response.ts';

/**
 * Serves one `subscriptions/listen`: an event stream that starts with the acknowledged filter, sends tagged changes,
 * and ends with the JSON-RPC result when the server ends it.
 *
 * Fails on the wire: -32602 for an invalid filter, 429 when the caller has reached its limit of streams. Subscriptions
 * that a policy or a backend refuses are not acknowledged.
 */
export async function openListen(
  parts: ProtocolServerParts & { readonly hub: ListenHub },
  exchange: Exchange,
  message: RequestMessage,
  request: McpRequest,
  serverInfo: RawJson,
): Promise<void> {
  const { service, limits, hub, withdrawn } = parts;
  const { replies, caller } = exchange;
  const refuse = (code: number, text: string, status = 200): void =>
    sendError(replies, status, wireError(code, text), ANSWER_HEADERS, message.id);
  const filter = readFilter(message.given.notifications);
  if ('wrong' in filter) return refuse(CODE.invalidParams, filter.wrong);
  const countKey = shareOf(exchange.caller, exchange.inbound.remoteAddress);
  if (hub.openOf(countKey) >= limits.streamsPerCaller) return refuse(429, 'too many open streams', 429);

  const listen = new Listen(parts, message.id, request, serverInfo, countKey);
  heldOf(request.inbound)?.keep(); // the id and the client of the request are parts of its body
  hub.add(listen, countKey); // before the watches, so that it counts and no change is missed
  replies.onDisconnect(() => listen.end());
  for (const [uri, entry] of await watchAll(parts, request, filter.uris, listen)) listen.uris.set(uri, entry);
  if (listen.hasEnded) {
    listen.unwatchAll();
    return refuse(CODE.internalError, 'the gateway is stopping', 503);
  }
  for (const kind of deliverable(filter.kinds, service.describeServer(request.client).capabilities))
    listen.kinds.add(kind);
  listen.start(new MessageWriter(replies.stream(), limits.streamBufferBytes));
  withdrawn.watch(caller, { isOpen: () => !listen.hasEnded, end: () => listen.finish() });
}

/** Decisions about subscriptions of one request before the event loop continues. */
const DECIDED_PER_TURN = 32;

type Watched = readonly [uri: string, entry: CatalogEntry];

/**
 * Subscribes to the resources that the caller may read; failures are logged and left out. All at once after the last decision: a
 * modern backend then gets one stream for them.
 */
async function watchAll(
  { service, log }: ProtocolServerParts,
  request: McpRequest,
  uris: readonly string[],
  listen: Pick<Listen, 'hasEnded'>,
): Promise<readonly Watched[]> {
  const each = async (run: () => Promise<Watched | undefined>): Promise<Watched | undefined> => {
    try {
      return await run();
    } catch (cause) {
      log.warn('a resource could not be subscribed', { cause: explainCause(cause) });
      return undefined;
    }
  };
  const allowed: Watched[] = [];
  for (let at = 0; at < uris.length && !listen.hasEnded; at += DECIDED_PER_TURN) {
    if (at > 0) await setImmediate();
    const decide = (uri: string) =>
      each(async () => {
        const found = await service.mayWatch(request, uri);
        return 'entry' in found ? [uri, found.entry] : undefined;
      });
    allowed.push(...present(await Promise.all(uris.slice(at, at + DECIDED_PER_TURN).map(decide))));
  }
  const watch = ([uri, entry]: Watched) =>
    each(async () => {
      await service.watch(entry, uri, request.client);
      return [uri, entry];
    });
  return listen.hasEnded ? [] : present(await Promise.all(allowed.map(watch)));
}

function present(found: readonly (Watched | undefined)[]): readonly Watched[] {
  return found.filter((each) => each !== undefined);
}

/** One open listen. */
class Listen implements Listener, HeartbeatListener {
  readonly kinds = new Set<ListKind>();
  readonly uris = new Map<string, CatalogEntry>();
  readonly ownerKey: string;
  readonly capabilityClass: string;
  readonly listClass: string | undefined;
  readonly #parts: ProtocolServerParts & { readonly hub: ListenHub };
  readonly #id: RawJson;
  readonly #request: McpRequest;
  readonly #serverInfo: RawJson;
  readonly #countKey: string;
  #writer: MessageWriter | undefined;
  hasEnded = false;

  constructor(
    parts: ProtocolServerParts & { readonly hub: ListenHub },
    id: RawJson,
    request: McpRequest,
    serverInfo: RawJson,
    countKey: string,
  ) {
    this.#parts = parts;
    this.#id = id;
    this.#request = request;
    this.#serverInfo = serverInfo;
    this.#countKey = countKey;
    this.ownerKey = request.client.owner.key;
    this.capabilityClass = request.client.owner.capabilityClass;
    this.listClass = request.client.owner.listClass;
  }

  start(writer: MessageWriter): void {
    this.#writer = writer;
    this.#parts.heartbeat.streams.add(this);
    const notifications = encode(acknowledged([...this.kinds], [...this.uris.keys()]));
    const params = RawObject.empty().with('notifications', notifications);
    this.#notify(MUST, 'notifications/subscriptions/acknowledged', params);
  }

  listChanged(kind: ListKind): void {
    if (!this.kinds.has(kind)) return;
    this.#notify({ latest: kind }, listChangedMethod(kind), RawObject.empty());
  }

  resourceUpdated(backend: string, uri: string, params: RawJson): void {
    if (this.uris.get(uri)?.backend !== backend) return; // a backend may update only its own resources
    this.#notify({ latest: uri }, 'notifications/resources/updated', RawObject.parse(params));
  }

  beat(): void {
    this.#writer?.keepAlive();
  }

  finish(): void {
    const result = RawObject.empty().with('resultType', encode('complete')).with('_meta', this.#meta());
    this.#writer?.write(MUST, () => ({ parts: resultParts(this.#id, [result.toBytes()]) }));
    this.end();
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { hub, heartbeat } = this.#parts;
    hub.delete(this, this.#countKey);
    heartbeat.streams.delete(this);
    this.#writer?.end();
    this.unwatchAll();
    heldOf(this.#request.inbound)?.release();
  }

  unwatchAll(): void {
    const { service, log } = this.#parts;
    for (const [uri, entry] of this.uris) {
      service.unwatch(entry, uri, this.#request.client).catch((cause: unknown) => {
        log.debug('a resource could not be unsubscribed', { cause: explainCause(cause) });
      });
    }
    this.uris.clear();
  }

  #notify(urgency: Urgency, method: string, params: RawObject): void {
    const kept = endToEndMeta(params.get('_meta'));
    const meta = (kept === undefined ? RawObject.empty() : RawObject.parse(kept)).with(META.subscriptionId, this.#id);
    const tagged = params.with('_meta', meta.toBytes()).toBytes();
    this.#writer?.write(urgency, () => ({ parts: notificationParts(method, tagged) }));
  }

  #meta(): RawJson {
    return ownMeta(this.#serverInfo, this.#id);
  }
}

/** The filter of a `subscriptions/listen`. */
export interface ListenFilter {
  readonly kinds: readonly ListKind[];
  /** Without duplicates. */
  readonly uris: readonly string[];
}

/**
 * Reads `params.notifications`.
 *
 * Fails as a value, a sentence for the client: it is missing, a member has the wrong type, or there are too many URIs.
 * Unknown members are ignored and therefore not acknowledged.
 */
export function readFilter(notifications: JsonValue | undefined): ListenFilter | { readonly wrong: string } {
  if (!isObject(notifications)) return { wrong: 'params.notifications must be an object' };
  for (const [member] of FLAGS) {
    const flag = notifications[member];
    if (flag !== undefined && typeof flag !== 'boolean') return { wrong: `notifications.${member} must be a boolean` };
  }
  const uris = notifications.resourceSubscriptions ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    return { wrong: 'notifications.resourceSubscriptions must be a list of URIs' };
  }
  const distinct = [...new Set(uris as string[])];
  if (distinct.length > MAX_URIS)
    return { wrong: `notifications.resourceSubscriptions takes at most ${MAX_URIS} URIs` };
  const bytes = distinct.reduce((sum, uri) => sum + Buffer.byteLength(uri), 0);
  if (bytes > MAX_URI_BYTES)
    return { wrong: `notifications.resourceSubscriptions takes URIs of at most ${MAX_URI_BYTES} bytes together` };
  return { kinds: FLAGS.filter(([member]) => notifications[member] === true).map(([, kind]) => kind), uris: distinct };
}

/** The requested kinds whose changes the gateway sends. */
export function deliverable(kinds: readonly ListKind[], capabilities: JsonObject): readonly ListKind[] {
  return kinds.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability.listChanged === true;
  });
}

/** The accepted subset, in the shape of the request. */
export function acknowledged(kinds: readonly ListKind[], uris: readonly string[]): JsonObject {
  const flags = FLAGS.filter(([, kind]) => kinds.includes(kind)).map(([member]) => [member, true]);
  return { ...Object.fromEntries(flags), ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }) };
}

const FLAGS = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
] as const satisfies readonly (readonly [string, ListKind])[];

const MAX_URIS = 1024; // per listen; each needs a subscription at a backend
const MAX_URI_BYTES = 262_144; // a backend is sent all of them again with each new listen
