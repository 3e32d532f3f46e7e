import type { BackendManager } from '../backend/backend-manager.ts';
import type { Catalog, Catalogs } from '../catalog/catalog.ts';
import type { Call, ClientContext, SessionOwner } from '../contract/call.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { RawObject } from '../json/raw-json.ts';
import { listClassOf } from '../mcp/capabilities.ts';
import { LazyMcpRequest } from '../server/lazy-mcp-request.ts';
import type { GatewayService, McpRequest } from '../server/mcp-request.ts';
import { type AnswerParts, answer } from './answer.ts';
import { type Denial, denialOf, denialOfMissing } from './denial.ts';
import { LISTS } from './list.ts';
import type { Pipeline } from './pipeline.ts';
import { resolveCall } from './resolve.ts';
import type { ServerDescriber } from './server-info.ts';
import { replyFromFault } from './wire-faults.ts';

/** What the client edges are joined to. */
export interface GatewayServiceParts {
  readonly pipeline: Pipeline;
  readonly manager: BackendManager;
  readonly catalogs: Catalogs;
  readonly answering: AnswerParts;
  readonly faces: ServerDescriber;
  readonly log: Log;
  /** See {@link House}. */
  readonly listClass?: NonNullable<GatewayService['listClass']>;
  /** Whether every backend has its first lists or an error. */
  isSettled(): boolean;
  settled(): Promise<void>;
  /** Resolves when backends that were added later have their first lists or an error; `undefined` when there are none. */
  settling(): Promise<void> | undefined;
}

/** Joins the client edges to the flow, the catalogues and the far side. */
export function createGatewayService(parts: GatewayServiceParts): GatewayService {
  const { pipeline, manager, catalogs, answering, faces, log } = parts;
  const preparations = createPreparations(manager, log);
  const ready = (client: ClientContext): Promise<unknown> | undefined => {
    const prepareOwner = preparations.of(client.owner);
    if (parts.isSettled()) return prepareOwner;
    return prepareOwner === undefined ? parts.settled() : Promise.all([prepareOwner, parts.settled()]);
  };
  /** Lists wait for backends that were added a moment ago too; a call of what is there does not. */
  const readyFor = (request: McpRequest): Promise<unknown> | undefined => {
    const waiting = ready(request.client);
    if (!parts.isSettled() || !LISTS.has(request.method)) return waiting;
    const added = parts.settling();
    return waiting === undefined || added === undefined ? (waiting ?? added) : Promise.all([waiting, added]);
  };
  return {
    identify: pipeline.identify,
    answer(request) {
      // The first lists are worth a bounded wait: a list that is empty because a backend was a second late lies.
      const waiting = readyFor(request);
      return waiting === undefined ? answer(answering, request) : waiting.then(() => answer(answering, request));
    },
    face: faces.face,
    async mayWatch(request, uri) {
      await ready(request.client);
      const params = RawObject.empty().with('uri', Buffer.from(JSON.stringify(uri)));
      const resolved = resolveCall(
        answering,
        new LazyMcpRequest({ method: 'resources/subscribe', params }, request, request.client, request.cancel),
      );
      if ('error' in resolved) return resolved;
      const { target } = 'call' in resolved ? resolved.call : resolved.missing;
      return (await decided(parts, resolved)) ?? { entry: target };
    },
    async objection(request) {
      await ready(request.client);
      const resolved = resolveCall(answering, request);
      return 'error' in resolved ? resolved : decided(parts, resolved);
    },
    watch: (entry, uri, client) => manager.watch(entry.workload, uri, client.owner),
    unwatch: (entry, uri, client) => manager.unwatch(entry.workload, uri, client.owner),
    prepareOwner: (client) => {
      preparations.of(client.owner);
    },
    ...(parts.listClass === undefined ? {} : { listClass: parts.listClass }),
    release: (ownerKey) => {
      preparations.forget(ownerKey);
      manager.release(ownerKey);
    },
    onListsChanged: (listener) => catalogs.onChanged(listener),
    setLogLevel: (client, level) => manager.setLogLevel(client.owner, level),
    rootsChanged: (client) => manager.rootsChanged(client.owner),
    mirrored(name, client) {
      const catalog = catalogFor(catalogs, client);
      return (catalog.find('tool', name) ?? catalog.direct().find('tool', name))?.mirrored;
    },
  };
}

/** What stands against a call that is not made (yet): a denial, or `undefined`. */
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
    log.error('a plugin failed to decide', { method: call.method, name: call.name, cause: explainCause(thrown) });
    const reply = replyFromFault(call, thrown);
    return 'error' in reply ? { error: reply.error } : { error: { code: -32603, message: 'internal error' } };
  }
}

/** The catalogue that a client sees. */
export function catalogFor(catalogs: Catalogs, client: ClientContext): Catalog {
  return catalogs.of(listClassOf(client.owner));
}

/**
 * Owners who may see other lists than the base class: each is welcomed once, and waited for while that lasts. Where lists
 * depend on the caller, again when they have been dropped or grown old.
 */
function createPreparations(manager: Pick<BackendManager, 'prepareOwner' | 'callerLists'>, log: Log) {
  const known = new Map<string, Promise<void> | undefined>();
  const renewing = new Set<string>();
  const prepareOwner = (owner: SessionOwner): Promise<void> =>
    manager
      .prepareOwner(owner)
      .catch((cause: unknown) => log.warn('lists of a capability class are missing', { cause: explainCause(cause) }));
  const renew = (owner: SessionOwner): void => {
    if (renewing.has(owner.key)) return;
    renewing.add(owner.key);
    void prepareOwner(owner).then(() => renewing.delete(owner.key));
  };
  return {
    /** The welcome that is under way; `undefined` when there is nothing to wait for. */
    of(owner: SessionOwner): Promise<void> | undefined {
      if (listClassOf(owner) === '') return undefined;
      if (known.has(owner.key)) {
        const running = known.get(owner.key);
        if (running !== undefined || owner.listClass === undefined) return running;
        const lists = manager.callerLists(owner);
        if (lists === 'old') renew(owner);
        if (lists !== 'missing') return undefined;
      }
      const waiting = prepareOwner(owner).then(() => {
        if (known.has(owner.key)) known.set(owner.key, undefined);
      });
      known.set(owner.key, waiting);
      if (known.size > MAX_WELCOMES) known.delete(known.keys().next().value ?? '');
      return waiting;
    },
    forget(ownerKey: string): void {
      known.delete(ownerKey);
    },
  };
}

const MAX_WELCOMES = 20_000; // a forgotten owner is welcomed again, which costs one look at known lists
