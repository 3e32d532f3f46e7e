import type { Catalog } from '../catalog/catalog.ts';
import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { RawJson } from '../contract/json.ts';
import type { CatalogEntry, EntryKind } from '../contract/tool.ts';
import { CODE, wireError } from '../protocol/errors.ts';
import type { Answer, Intent } from '../protocol/intent.ts';
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
  /** One page of entries that a plugin filtered. */
  pageOf(entries: readonly CatalogEntry[], kind: EntryKind, era: Era, cursor: string | undefined): RawJson | undefined;
}

/** Answers a list: the ready page when nobody filters, otherwise what this caller may see. */
export async function answerList(parts: ListParts, intent: Intent, kind: EntryKind): Promise<Answer> {
  const cursor = intent.params.get('cursor');
  if (cursor !== undefined && cursor[0] !== QUOTE) return badCursor();
  const text = cursor === undefined ? undefined : intent.params.string('cursor');
  const missing = parts.incomplete(intent);
  if (missing !== undefined) return { error: wireError(CODE.internalError, missing) };
  const catalog = parts.catalog(intent);
  const { era } = intent.asker;
  const { advertise } = parts.rooms;
  const page =
    advertise === undefined
      ? catalog.page(kind, era, text)
      : parts.pageOf(await advertised(advertise, catalog.visible(kind), intent.caller), kind, era, text);
  return page === undefined ? badCursor() : { ready: page };
}

function advertised(
  advertise: NonNullable<Rooms['advertise']>,
  entries: readonly CatalogEntry[],
  caller: Caller,
): Promise<readonly CatalogEntry[]> {
  return advertise(entries, caller);
}

function badCursor(): Answer {
  return { error: wireError(CODE.invalidParams, 'params.cursor is not a cursor of this list') };
}

const QUOTE = 0x22;
