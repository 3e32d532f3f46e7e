import type { Catalog } from '../catalog/catalog.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import type { CatalogEntry, EntryKind } from '../contract/tool.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import { LACKING } from '../mcp/meta.ts';
import type { Answer, McpRequest } from '../server/mcp-request.ts';
import type { Pipeline } from './pipeline.ts';

/** The list methods and what they list. */
export const LISTS: ReadonlyMap<string, EntryKind> = new Map([
  ['tools/list', 'tool'],
  ['prompts/list', 'prompt'],
  ['resources/list', 'resource'],
  ['resources/templates/list', 'template'],
]);

/** What listing needs. */
export interface ListParts {
  readonly pipeline: Pick<Pipeline, 'advertise'>;
  catalog(request: McpRequest): Catalog;
  /** Why a list would be incomplete and must not be answered, `undefined` when it may be (`partialFailureMode: fail`). */
  incomplete(request: McpRequest): string | undefined;
  /** Backends that a list lacks although it is answered, for its `_meta`; `undefined` when it lacks none. */
  lacking(request: McpRequest): JsonValue | undefined;
  /** One page that is made for this list: a plugin filtered its entries, or `_meta` says what it lacks. */
  pageOf(
    entries: readonly CatalogEntry[],
    kind: EntryKind,
    era: Era,
    cursor: string | undefined,
    meta: JsonObject | undefined,
  ): RawJson | undefined;
}

/** Answers a list: the ready page when nobody filters, otherwise what this caller may see. */
export async function answerList(parts: ListParts, request: McpRequest, kind: EntryKind): Promise<Answer> {
  const cursor = request.params.get('cursor');
  if (cursor !== undefined && cursor[0] !== QUOTE) return badCursor();
  const text = cursor === undefined ? undefined : request.params.string('cursor');
  const missing = parts.incomplete(request);
  if (missing !== undefined) {
    noteAsked(parts, request);
    return { error: wireError(CODE.internalError, missing) };
  }
  const catalog = parts.catalog(request);
  const { era } = request.client;
  const { advertise } = parts.pipeline;
  const lacking = parts.lacking(request);
  const meta = lacking === undefined ? undefined : { [LACKING]: lacking };
  const entries = catalog.visible(kind);
  const page =
    advertise === undefined && meta === undefined
      ? catalog.page(kind, era, text)
      : parts.pageOf(
          advertise === undefined ? entries : await advertise(entries, request.caller),
          kind,
          era,
          text,
          meta,
        );
  return page === undefined ? badCursor() : { ready: page };
}

/** Who was refused a list is told when it changes: changes are told of catalogues that were asked for. */
function noteAsked(parts: ListParts, request: McpRequest): void {
  try {
    parts.catalog(request);
  } catch {
    // without a catalogue there is nothing to tell of; its fault has been logged
  }
}

function badCursor(): Answer {
  return { error: wireError(CODE.invalidParams, 'params.cursor is not a cursor of this list') };
}

const QUOTE = 0x22;
