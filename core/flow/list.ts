import type { Catalog } from '../catalog/catalog.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import type { CatalogEntry, EntryKind } from '../contract/tool.ts';
import { CODE, wireError } from '../protocol/errors.ts';
import type { Answer, Intent } from '../protocol/intent.ts';
import { LACKING } from '../protocol/meta.ts';
import type { Rooms } from './rooms.ts';

/** The list methods and what they list. */
export const LISTS: ReadonlyMap<string, EntryKind> = new Map([
  ['tools/list', 'tool'],
  ['prompts/list', 'prompt'],
  ['resources/list', 'resource'],
  ['resources/templates/list', 'template'],
]);

/** What listing needs. */
export interface ListParts {
  readonly rooms: Pick<Rooms, 'advertise'>;
  catalog(intent: Intent): Catalog;
  /** Why a list would be incomplete and must not be answered, `undefined` when it may be (`partialFailureMode: fail`). */
  incomplete(intent: Intent): string | undefined;
  /** Backends that a list lacks although it is answered, for its `_meta`; `undefined` when it lacks none. */
  lacking(intent: Intent): JsonValue | undefined;
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
export async function answerList(parts: ListParts, intent: Intent, kind: EntryKind): Promise<Answer> {
  const cursor = intent.params.get('cursor');
  if (cursor !== undefined && cursor[0] !== QUOTE) return badCursor();
  const text = cursor === undefined ? undefined : intent.params.string('cursor');
  const missing = parts.incomplete(intent);
  if (missing !== undefined) {
    noteAsked(parts, intent);
    return { error: wireError(CODE.internalError, missing) };
  }
  const catalog = parts.catalog(intent);
  const { era } = intent.asker;
  const { advertise } = parts.rooms;
  const lacking = parts.lacking(intent);
  const meta = lacking === undefined ? undefined : { [LACKING]: lacking };
  const entries = catalog.visible(kind);
  const page =
    advertise === undefined && meta === undefined
      ? catalog.page(kind, era, text)
      : parts.pageOf(
          advertise === undefined ? entries : await advertise(entries, intent.caller),
          kind,
          era,
          text,
          meta,
        );
  return page === undefined ? badCursor() : { ready: page };
}

/** Who was refused a list is told when it changes: changes are told of catalogues that were asked for. */
function noteAsked(parts: ListParts, intent: Intent): void {
  try {
    parts.catalog(intent);
  } catch {
    // without a catalogue there is nothing to tell of; its fault has been logged
  }
}

function badCursor(): Answer {
  return { error: wireError(CODE.invalidParams, 'params.cursor is not a cursor of this list') };
}

const QUOTE = 0x22;
