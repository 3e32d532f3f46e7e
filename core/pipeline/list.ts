import { pageOf } from '../catalog/page-cache.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { explainCause, UserActionRequired } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import { listClassOf } from '../mcp/capabilities.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { MISSING_BACKENDS } from '../mcp/meta.ts';
import type { Answer, McpRequest } from './mcp-request.ts';
import type { MissingBackends } from './missing-backends.ts';
import type { Pipeline } from './pipeline.ts';
import { type CatalogParts, catalogFor } from './resolve.ts';
import { linkAsError } from './user-action.ts';

/** The list methods and the kind of entries that they list. */
export const LISTS: ReadonlyMap<string, EntryKind> = new Map([
  ['tools/list', 'tool'],
  ['prompts/list', 'prompt'],
  ['resources/list', 'resource'],
  ['resources/templates/list', 'template'],
]);

/** What listing needs. */
export interface ListParts extends CatalogParts {
  readonly pipeline: Pick<Pipeline, 'advertise'>;
  readonly gaps: Pick<MissingBackends, 'inLists' | 'lacking'>;
  readonly serverInfo: JsonObject;
  readonly limits: Pick<Limits, 'pageSize'>;
  readonly log: Log;
}

/** Answers a list: the cached page without filters, otherwise the entries that this caller may see. Never rejects. */
export async function answerList(parts: ListParts, request: McpRequest, kind: EntryKind): Promise<Answer> {
  try {
    return await listed(parts, request, kind);
  } catch (cause) {
    if (cause instanceof UserActionRequired) return { error: linkAsError(request.client, cause) };
    parts.log.error('a list failed', { method: request.method, cause: explainCause(cause) });
    return { error: wireError(CODE.internalError, 'the list could not be built', undefined, 200) };
  }
}

async function listed(parts: ListParts, request: McpRequest, kind: EntryKind): Promise<Answer> {
  const cursor = request.params.get('cursor');
  if (cursor !== undefined && cursor[0] !== QUOTE) return badCursor();
  const text = cursor === undefined ? undefined : request.params.string('cursor');
  const listClass = listClassOf(request.client.owner);
  const lacking = parts.gaps.lacking(listClass);
  const meta = lacking === undefined ? undefined : { [MISSING_BACKENDS]: lacking as unknown as JsonValue };
  const missing = parts.gaps.inLists(listClass);
  if (missing !== undefined) {
    noteAsked(parts, request);
    return { error: wireError(CODE.internalError, missing, meta) };
  }
  const catalog = catalogFor(parts, request);
  const { era } = request.client;
  const { advertise } = parts.pipeline;
  const entries = catalog.visible(kind);
  const page =
    advertise === undefined && meta === undefined
      ? catalog.page(kind, era, text)
      : pageOf(advertise === undefined ? entries : await advertise(entries, request.caller), kind, era, text, {
          serverInfo: parts.serverInfo,
          limits: parts.limits,
          ttlMs: meta === undefined ? catalog.ttlMs(kind) : 0, // what is missing may come at any moment
          ...(meta === undefined ? {} : { meta }),
        });
  return page === undefined ? badCursor() : { ready: page };
}

/** A client whose list was refused is notified of later changes: only catalogues in use are watched for changes. */
function noteAsked(parts: ListParts, request: McpRequest): void {
  try {
    catalogFor(parts, request);
  } catch {
    // without a catalogue there are no changes; its fault has been logged
  }
}

function badCursor(): Answer {
  return { error: wireError(CODE.invalidParams, 'params.cursor is not a cursor of this list') };
}

const QUOTE = 0x22;
