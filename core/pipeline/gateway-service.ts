import type { BackendManager } from '../backend/backend-manager.ts';
import type { Call, CatalogEntry, Reply } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { MirroredParam } from '../contract/catalog-entry.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { OpenRequestRecord } from '../contract/request-record.ts';
import { explainCause, UserActionRequired } from '../errors.ts';
import { RawObject } from '../json/raw-json.ts';
import type { Limits } from '../limits.ts';
import { listClassOf } from '../mcp/capabilities.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { CALL_METHODS } from '../mcp/methods.ts';
import { type Denial, denialOf, denialOfMissing } from './denial.ts';
import { answerList, LISTS, type ListParts } from './list.ts';
import { createPreparations, findWhenListed } from './lists-to-come.ts';
import type { Answer, McpRequest } from './mcp-request.ts';
import { type PipelineContext, performResolved } from './perform.ts';
import { catalogFor, type Resolved, type ResolveParts, resolveCall } from './resolve.ts';
import type { ServerDescriber, ServerDescription } from './server-info.ts';
import { linkAsError } from './user-action.ts';
import { replyFromFault } from './wire-faults.ts';

/** The interface between the protocol servers and the pipeline. */
export interface GatewayService {
  identify(inbound: Inbound): Promise<Caller | Refusal | undefined> | Caller | Refusal | undefined;
  /**
   * Answers tools/list, prompts/list, resources/list, resources/templates/list, tools/call, prompts/get, resources/read
   * and completion/complete. Never rejects because of a backend or plugin: that is an `error`.
   */
  answer(request: McpRequest): Promise<Answer>;
  /** The server info for one client. */
  describeServer(client: ClientContext): ServerDescription;
  /** Decides `resources/subscribe` and listen filters: the entry of a URI, or a refusal or error. */
  mayWatch(
    request: McpRequest,
    uri: string,
  ): Promise<{ readonly entry: CatalogEntry } | Exclude<Reply, { result: unknown }>>;
  /** Why a call would be refused, without making it; checked before an error reveals anything about the name. */
  objection?(request: McpRequest): Promise<Exclude<Reply, { result: unknown }> | undefined>;
  /**
   * Subscribes an owner to a resource; updates are passed to `owner.sink.resourceUpdated`. Counted: unwatch once for
   * each.
   */
  watch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void>;
  unwatch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void>;
  /** Starts opening the owner's backend sessions when its capability class has no lists of its own yet. */
  prepareOwner(client: ClientContext): void;
  /** The class of a caller's own lists within a capability class; absent when lists do not depend on the caller. */
  listClass?(capabilityClass: string, caller: Caller): string;
  /** The owner has ended: its backend sessions are closed. */
  release(ownerKey: string): void;
  /** Reports which lists changed for a capability class. Returns the function that unsubscribes. */
  onListsChanged(listener: (change: ListsChanged) => void): () => void;
  /** Backends may give some callers other lists now: they are read again. */
  credentialsChanged?(concerns: (caller: Caller) => boolean): void;
  /** Forwards the client's `logging/setLevel` to its backend sessions. */
  setLogLevel(client: ClientContext, level: string): void;
  /** Notifies backends that the client's roots changed. */
  rootsChanged(client: ClientContext): void;
  /**
   * The arguments of a tool that its `Mcp-Param-*` headers repeat, as this client sees the tool; `undefined` for none.
   */
  mirrored?(name: string, client: ClientContext): readonly MirroredParam[] | undefined;
}

/** Changed lists of one capability class, or of one caller. */
export interface ListsChanged {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
}

/** What the service is made with. */
export interface GatewayServiceParts
  extends PipelineContext,
    Omit<ListParts, 'pipeline' | 'limits'>,
    Omit<ResolveParts, 'limits'> {
  readonly manager: BackendManager;
  readonly serverDescriber: ServerDescriber;
  readonly firstLists: FirstLists;
  readonly limits: Pick<Limits, 'pageSize' | 'helloMs'> & ResolveParts['limits'];
  /** See {@link GatewayService}. */
  readonly listClass?: NonNullable<GatewayService['listClass']>;
}

/** The first lists of the backends of a starting gateway. */
export interface FirstLists {
  /** Whether every backend has its first lists or an error. */
  isSettled: boolean;
  /** Resolves when `isSettled` is true, at most after `limits.discoveryMs`. */
  settled: Promise<void>;
}

/** Answers requests of the protocol servers from the pipeline, the catalogues and the backends. */
export function createGatewayService(parts: GatewayServiceParts): GatewayService {
  const { pipeline, manager, catalogs, serverDescriber, log, firstLists } = parts;
  const preparations = createPreparations(manager, log);
  const ready = ({ owner }: ClientContext): Promise<unknown> | undefined => {
    const prepared = listClassOf(owner) === '' ? undefined : preparations.of(owner);
    if (firstLists.isSettled) return prepared;
    return prepared === undefined ? firstLists.settled : Promise.all([prepared, firstLists.settled]);
  };
  /** Lists also wait for backends that were just added; calls of known entries do not. */
  const readyFor = (request: McpRequest): Promise<unknown> | undefined => {
    const waiting = ready(request.client);
    if (!firstLists.isSettled || !LISTS.has(request.method)) return waiting;
    const added = addedLists(parts);
    return waiting === undefined || added === undefined ? (waiting ?? added) : Promise.all([waiting, added]);
  };
  return {
    identify: pipeline.identify,
    answer(request) {
      // Waits a limited time for the first lists, because a list that is empty for a second would be wrong.
      const waiting = readyFor(request);
      return waiting === undefined ? answer(parts, request) : waiting.then(() => answer(parts, request));
    },
    describeServer: serverDescriber.describeServer,
    async mayWatch({ caller, client, inbound, cancel }, uri) {
      await ready(client);
      const params = RawObject.empty().with('uri', Buffer.from(JSON.stringify(uri)));
      const resolved = resolveCall(parts, { method: 'resources/subscribe', params, caller, client, inbound, cancel });
      if ('error' in resolved) return resolved;
      const { target } = 'call' in resolved ? resolved.call : resolved.missing;
      return (await decided(parts, resolved)) ?? { entry: target };
    },
    async objection(request) {
      await ready(request.client);
      const resolved = resolveCall(parts, request);
      return 'error' in resolved ? resolved : decided(parts, resolved);
    },
    watch: (entry, uri, client) => manager.watch(entry.backend, uri, client.owner),
    unwatch: (entry, uri, client) => manager.unwatch(entry.backend, uri, client.owner),
    prepareOwner: (client) => {
      if (listClassOf(client.owner) !== '') preparations.of(client.owner);
    },
    ...(parts.listClass === undefined ? {} : { listClass: parts.listClass }),
    release: (ownerKey) => {
      preparations.forget(ownerKey);
      manager.release(ownerKey);
    },
    credentialsChanged: preparations.credentialsChanged,
    onListsChanged: (listener) => catalogs.onChanged(listener),
    setLogLevel: (client, level) => manager.setLogLevel(client.owner, level),
    rootsChanged: (client) => manager.rootsChanged(client.owner),
    mirrored(name, client) {
      const catalog = catalogFor(parts, { client });
      return (catalog.find('tool', name) ?? catalog.direct().find('tool', name))?.mirrored;
    },
  };
}

/** Resolves when the lists of added backends are in the catalogues; `undefined` when none was added. */
export function addedLists({
  manager,
  catalogs,
}: Pick<GatewayServiceParts, 'manager' | 'catalogs'>): Promise<void> | undefined {
  return manager.settling()?.then(() => catalogs.catchUp());
}

/** Answers one request that needs the catalogue. Never rejects because of a backend or plugin. */
function answer(parts: GatewayServiceParts, request: McpRequest): Promise<Answer> {
  const kind = LISTS.get(request.method);
  if (kind !== undefined) {
    parts.manager.renewOldLists(); // for the next list; a change is announced
    return answerList(parts, request, kind);
  }
  return CALLS.has(request.method) ? answerCall(parts, request) : Promise.resolve(UNKNOWN_METHOD);
}

function answerCall(parts: GatewayServiceParts, request: McpRequest): Promise<Reply> {
  const resolved = safelyResolved(parts, request);
  if (!('missing' in resolved)) return performed(parts, request, resolved);
  const { client, cancel } = resolved.missing;
  const listed = findWhenListed(parts, client.owner, cancel, () => {
    const again = safelyResolved(parts, request);
    return 'missing' in again ? undefined : again;
  });
  if (listed === undefined) return performed(parts, request, resolved);
  return listed.then((found) => performed(parts, request, found ?? resolved));
}

function performed(parts: GatewayServiceParts, request: McpRequest, resolved: Resolved): Promise<Reply> {
  if ('error' in resolved) return Promise.resolve(resolved);
  const record = request.inbound?.record as OpenRequestRecord | undefined; // only the endpoint sets it
  if (record !== undefined && 'call' in resolved) record.call = resolved.call;
  return performResolved(parts, resolved);
}

/** Without a catalogue nothing can be called; that is an error of the gateway, not of the caller. */
function safelyResolved(parts: GatewayServiceParts, request: McpRequest): Resolved {
  try {
    return resolveCall(parts, request);
  } catch (cause) {
    parts.log.error('a list failed', { method: request.method, cause: explainCause(cause) });
    return { error: wireError(CODE.internalError, 'the catalogue of this gateway could not be built') };
  }
}

const UNKNOWN_METHOD: Answer = { error: wireError(CODE.methodNotFound, 'method not found', undefined, 404) };

const CALLS: ReadonlySet<string> = new Set(CALL_METHODS);

/** Why a call that is not made (yet) is refused; `undefined` when it is allowed. */
async function decided(
  { pipeline, log }: GatewayServiceParts,
  found: { readonly call: Call } | { readonly missing: Call },
): Promise<Denial | undefined> {
  const call = 'call' in found ? found.call : found.missing;
  try {
    if (call.target.isMissing) return await denialOfMissing(pipeline, call);
    const refusal = await pipeline.authorize(call);
    return refusal === undefined ? undefined : await denialOf(pipeline, call, refusal);
  } catch (thrown) {
    if (thrown instanceof UserActionRequired) return { error: linkAsError(call.client, thrown) };
    log.error('a plugin failed to decide', { method: call.method, name: call.name, cause: explainCause(thrown) });
    const reply = replyFromFault(call, thrown);
    return 'error' in reply ? { error: reply.error } : { error: { code: -32603, message: 'internal error' } };
  }
}
