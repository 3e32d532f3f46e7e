import { randomUUID } from 'node:crypto';
import type { BackendManager } from '../backend/backend-manager.ts';
import type { Call, CatalogEntry, Reply, ToolEntry } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { ANONYMOUS } from '../extension/anonymous.ts';
import type { InnerCall } from '../extension/plugin.ts';
import { hasRepeatedMembers } from '../json/ambiguous-names.ts';
import { isLongerThan } from '../json/byte-pieces.ts';
import { RawJsonError, TooManyMembers } from '../json/json-errors.ts';
import { decodeObject, encode } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';
import type { Limits } from '../limits.ts';
import { listClassOf } from '../mcp/capabilities.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { Cancel, cancellationOf } from '../timing/cancel.ts';
import { createCall } from './call-value.ts';
import { missingEntry } from './denial.ts';
import { findWhenListed } from './lists-to-come.ts';
import { type PipelineContext, performResolved } from './perform.ts';
import { silentClient } from './silent-client.ts';

/** Calls of plugins and embedders, which run through the same pipeline as calls of clients. */
export interface InnerCalls {
  /** The visible tools of the client of a call, as far as `advertise` shows them to its caller. */
  toolsFor(call: Call): Promise<readonly ToolEntry[]>;
  /** See `Core.reachable`. */
  reachable(call: Call): readonly ToolEntry[];
  inner(asked: InnerCall): Promise<Reply>;
  outer(asked: { name: string; arguments?: JsonObject; caller?: Caller; signal?: AbortSignal }): Promise<Reply>;
}

/** What inner and outer calls need besides the pipeline. */
export interface PerformingParts extends PipelineContext {
  readonly manager: Pick<BackendManager, 'callerLists' | 'prepareOwner' | 'listsToCome'>;
  readonly limits: Bounds & Pick<Limits, 'helloMs'>;
}

type Bounds = Pick<Limits, 'objectMembers' | 'messageContainers' | 'messageValues' | 'nameBytes'>;

/**
 * Makes both kinds of calls. Inner calls may reach tools that are hidden from clients; outer ones may not. `listClassFor`: the
 * class of a caller's own lists, where lists depend on the caller.
 */
export function createPerforming(
  context: PerformingParts,
  listClassFor?: (capabilityClass: string, caller: Caller) => string,
): InnerCalls {
  const { catalogs, limits, manager } = context;
  const reachable: InnerCalls['reachable'] = ({ client }) =>
    catalogs.of(listClassOf(client.owner)).direct().visible('tool') as readonly ToolEntry[];
  return {
    reachable,
    async toolsFor(call) {
      const tools = reachable(call);
      return ((await context.pipeline.advertise?.(tools, call.caller)) ?? tools) as readonly ToolEntry[];
    },
    async inner({ parent, name, arguments: given, caller, signal, curated, isChosen }) {
      if (depthOf(parent) >= MAX_DEPTH) {
        return { error: { code: -32603, message: `calls are nested more than ${MAX_DEPTH} deep` } };
      }
      if (isLongerThan(name, limits.nameBytes)) {
        return { error: wireError(CODE.invalidParams, `the name is longer than ${limits.nameBytes} bytes`) };
      }
      const client: ClientContext = { ...parent.client, progressToken: undefined, notify: parent.client.notify };
      const find = (): CatalogEntry | undefined => {
        const catalog = catalogs.of(listClassOf(client.owner));
        return isChosen ? catalog.direct().find('tool', name) : catalog.findForInnerCall(name);
      };
      const cancel = signal === undefined ? parent.cancel : cancellationOf(signal);
      const target =
        find() ?? (await findWhenListed(context, client.owner, cancel, find)) ?? missingEntry('tool', name);
      const fields = toolCall(target, given, limits);
      if ('error' in fields) return fields;
      const call = createCall({
        ...fields,
        target,
        caller: caller ?? parent.caller,
        client,
        inbound: parent.inbound,
        headers: parent.headers,
        parent,
        id: parent.id,
        cancel,
      });
      return performResolved(context, target.isMissing ? { missing: call } : { call }, curated);
    },
    async outer({ name, arguments: given, caller = ANONYMOUS, signal }) {
      const listClass = listClassFor?.('', caller);
      const key = `caller:${caller.key}:`;
      const client = silentClient({ key, caller, capabilities: {}, capabilityClass: '', listClass });
      if (listClass !== undefined && manager.callerLists(client.owner) === 'missing') {
        await manager.prepareOwner(client.owner);
      }
      const find = (): CatalogEntry | undefined => {
        const catalog = catalogs.of(listClassOf(client.owner));
        return catalog.direct().find('tool', name) ?? catalog.find('tool', name);
      };
      const cancel = signal === undefined ? new Cancel() : cancellationOf(signal);
      const target =
        find() ?? (await findWhenListed(context, client.owner, cancel, find)) ?? missingEntry('tool', name);
      const fields = toolCall(target, given ?? {}, limits);
      if ('error' in fields) return fields;
      const call = createCall({
        ...fields,
        target,
        caller,
        client,
        headers: {},
        parent: undefined,
        id: randomUUID(),
        cancel,
      });
      return performResolved(context, target.isMissing ? { missing: call } : { call });
    },
  };
}

const MAX_DEPTH = 16; // e.g. composite in script in call_tool, and more

function depthOf(call: Call): number {
  let depth = 1;
  for (let at = call.parent; at !== undefined; at = at.parent) depth++;
  return depth;
}

/** -32602 for bytes that would be refused in a request of a client. Not read when the call is not run. */
function toolCall({ key: name, isMissing }: CatalogEntry, given: JsonObject | RawJson, limits: Bounds) {
  const raw = Buffer.isBuffer(given) ? given : encode(given);
  const read = Buffer.isBuffer(given) && !isMissing ? readArguments(given, limits) : { decoded: undefined };
  if ('error' in read) return read;
  return {
    method: 'tools/call',
    name,
    members: RawObject.empty().with('name', encode(name)).with('arguments', raw),
    decoded: read.decoded,
    meta: undefined,
    round: 1,
    backendState: undefined,
    inputResponses: undefined,
  } as const;
}

function readArguments(
  raw: RawJson,
  { objectMembers, messageContainers, messageValues }: Bounds,
): { readonly decoded: JsonObject } | { readonly error: WireError } {
  try {
    // before decoding: limits depth, members, objects and arrays, and values
    const members = RawObject.parse(raw, undefined, objectMembers, messageContainers, messageValues);
    const decoded = decodeObject(raw) ?? {};
    if (!hasRepeatedMembers(members, decoded)) return { decoded };
    return { error: wireError(CODE.invalidParams, 'the arguments have a duplicate member') };
  } catch (cause) {
    if (!(cause instanceof RawJsonError) && !(cause instanceof SyntaxError)) throw cause;
    const isLarge = cause instanceof TooManyMembers;
    return { error: wireError(CODE.invalidParams, isLarge ? cause.message : 'the arguments are not a JSON object') };
  }
}
