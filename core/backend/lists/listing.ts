import type { Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Log } from '../../extension/plugin.ts';
import { RawJsonError, TooManyElements } from '../../json/json-errors.ts';
import { rawElements } from '../../json/raw-elements.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { partsFromValue } from '../../mcp/backend-message.ts';
import { BackendError, CODE } from '../../mcp/errors.ts';
import { LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import { readAnnotations, stripAnnotations } from '../../mcp/mirrored-params.ts';
import type { BackendListing, ListedItem } from '../backend-manager.ts';
import { ConnectionFailure } from '../failure.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';

/** Caller and limits of a listing. */
export interface ListingAuthContext {
  readonly backend: Backend;
  readonly caller: Caller;
  readonly purpose: 'discovery' | 'session';
  readonly capabilities: JsonObject;
  readonly limits: Limits;
  /** Of one list, all pages together. */
  readonly mostBytes: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  now(): number;
}

/**
 * Reads the lists of a backend: those in its capabilities, or only `kinds` of them; the others are empty.
 *
 * Shape: unchanged items in the order of the backend; of a duplicate name the first item is used.
 * @throws BackendError · ConnectionFailure, also for too many pages or a repeated cursor
 */
export async function readListing(
  connection: JsonRpcConnection,
  authContext: ListingAuthContext,
  kinds: ReadonlySet<ListKind> = ALL_KINDS,
): Promise<BackendListing> {
  const { hello, era } = connection;
  const wants = (kind: ListKind) => kinds.has(kind) && hello.capabilities[kind] !== undefined;
  const atMs = authContext.now();
  const [tools, prompts, resources, templates] = await Promise.all([
    wants('tools') ? readTools(connection, authContext) : NOT_READ,
    wants('prompts') ? walk(connection, authContext, PROMPTS) : NOT_READ,
    wants('resources') ? walk(connection, authContext, RESOURCES) : NOT_READ,
    wants('resources') ? walk(connection, authContext, TEMPLATES) : NOT_READ,
  ]);
  const read = {
    ...(wants('tools') ? { tools: { atMs, ttlMs: tools.ttlMs } } : {}),
    ...(wants('prompts') ? { prompts: { atMs, ttlMs: prompts.ttlMs } } : {}),
    ...(wants('resources') ? { resources: { atMs, ttlMs: Math.min(resources.ttlMs, templates.ttlMs) } } : {}),
  };
  const lists = { tools: tools.items, prompts: prompts.items, resources: resources.items, templates: templates.items };
  return { backend: authContext.backend.name, era, hello, ...lists, read };
}

/** A whole list, and the shortest time for which its pages are valid. */
interface WalkedList {
  readonly items: readonly ListedItem[];
  readonly ttlMs: number;
}

const NOT_READ: WalkedList = { items: [], ttlMs: Number.MAX_SAFE_INTEGER };

/** The newer listing for the kinds that were read, the older one for others. */
export function mergeLists(older: BackendListing, newer: BackendListing, kinds: ReadonlySet<ListKind>): BackendListing {
  const pick = (kind: ListKind) => (kinds.has(kind) ? newer : older);
  return {
    ...newer,
    tools: pick('tools').tools,
    prompts: pick('prompts').prompts,
    resources: pick('resources').resources,
    templates: pick('resources').templates,
    read: { ...older.read, ...newer.read },
  };
}

/** Whether two listings have equal content, and are both of this run or both of an earlier one. */
export function sameListing(one: BackendListing, other: BackendListing): boolean {
  return (
    one.era === other.era &&
    one.isOfEarlierRun === other.isOfEarlierRun &&
    one.hello.instructions === other.hello.instructions &&
    JSON.stringify(one.hello) === JSON.stringify(other.hello) &&
    LISTS.every((list) => sameItems(one[list], other[list]))
  );
}

const LISTS = ['tools', 'prompts', 'resources', 'templates'] as const;

const ALL_KINDS: ReadonlySet<ListKind> = new Set(LIST_KINDS);

interface ListShape {
  readonly method: string;
  readonly member: string;
  readonly key: string;
}

const TOOLS: ListShape = { method: 'tools/list', member: 'tools', key: 'name' };
const PROMPTS: ListShape = { method: 'prompts/list', member: 'prompts', key: 'name' };
const RESOURCES: ListShape = { method: 'resources/list', member: 'resources', key: 'uri' };
const TEMPLATES: ListShape = { method: 'resources/templates/list', member: 'resourceTemplates', key: 'uriTemplate' };

async function readTools(connection: JsonRpcConnection, authContext: ListingAuthContext): Promise<WalkedList> {
  const { items, ttlMs } = await walk(connection, authContext, TOOLS);
  const httpModern = connection.era === '2026-07-28' && authContext.backend.transport !== 'stdio';
  return { items: items.flatMap((item) => annotated(item, httpModern, authContext)), ttlMs };
}

/**
 * The tool with its annotations compiled. With invalid ones it is dropped where they are needed; elsewhere they are
 * removed.
 */
function annotated(item: ListedItem, httpModern: boolean, { backend, log }: ListingAuthContext): ListedItem[] {
  const annotations = readAnnotations(item.definition);
  if (annotations === undefined) return [item];
  if ('mirrored' in annotations) return [{ ...item, mirrored: annotations.mirrored }];
  const fields = { backend: backend.name, tool: item.key, why: annotations.invalid };
  if (httpModern) {
    log.warn('tool dropped: its x-mcp-header annotations are invalid', fields);
    return [];
  }
  log.warn('invalid x-mcp-header annotations removed from a tool', fields);
  return [{ ...item, definition: stripAnnotations(item.definition) }];
}

async function walk(
  connection: JsonRpcConnection,
  authContext: ListingAuthContext,
  shape: ListShape,
): Promise<WalkedList> {
  const { limits, mostBytes } = authContext;
  let ttlMs = Number.MAX_SAFE_INTEGER;
  const items = new Map<string, ListedItem>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 0; page < limits.pageWalk; page++) {
    const result = await readPage(connection, authContext, shape, cursor);
    if (result === undefined) return NOT_READ;
    ttlMs = Math.min(ttlMs, ttlOf(result));
    // Items reference the memory of their page.
    bytes += result.toBytes().length;
    if (bytes > mostBytes) throw tooMuch(authContext, shape, `has more than ${mostBytes} bytes`);
    collect(result, shape, items, authContext);
    if (items.size > limits.listItems) throw tooMuch(authContext, shape, `has more than ${limits.listItems} items`);
    cursor = result.string('nextCursor');
    if (cursor === undefined) return { items: [...items.values()], ttlMs };
    if (cursors.has(cursor)) throw tooMuch(authContext, shape, 'gave the same cursor twice');
    cursors.add(cursor);
  }
  throw tooMuch(authContext, shape, `has more than ${limits.pageWalk} pages`);
}

/** `ttlMs` of a page: absent, negative and unreadable ones count as 0. */
function ttlOf(page: RawObject): number {
  const text = page.get('ttlMs')?.toString('latin1') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** One page; `undefined` when the backend does not know the method. */
async function readPage(
  connection: JsonRpcConnection,
  authContext: ListingAuthContext,
  shape: ListShape,
  cursor: string | undefined,
): Promise<RawObject | undefined> {
  const { caller, purpose, capabilities, limits, signal } = authContext;
  try {
    return await connection.request({
      method: shape.method,
      params: cursor === undefined ? [] : partsFromValue({ cursor }),
      caller,
      purpose,
      capabilities,
      timeoutMs: limits.callTimeoutMs,
      totalMs: limits.callTimeoutMs,
      signal,
    });
  } catch (cause) {
    if (cause instanceof BackendError && cause.code === CODE.methodNotFound) return undefined;
    throw cause;
  }
}

function collect(
  page: RawObject,
  shape: ListShape,
  items: Map<string, ListedItem>,
  authContext: ListingAuthContext,
): void {
  const { backend, log } = authContext;
  let unnamed = 0;
  const repeated = new Set<string>();
  for (const definition of elementsOf(page.get(shape.member), authContext, shape)) {
    const key = definition[0] === 0x7b ? RawObject.parse(definition).string(shape.key) : undefined;
    if (key === undefined || key === '') unnamed++;
    else if (items.has(key)) repeated.add(key);
    else items.set(key, { key, definition });
  }
  // One line per page, however many items there are.
  const fields = { backend: backend.name, list: shape.method };
  if (unnamed > 0) log.warn('list item without a name skipped', { ...fields, count: unnamed });
  const [item] = repeated;
  if (item === undefined) return;
  log.warn('list item with a duplicate name skipped', { ...fields, item, count: repeated.size });
}

function elementsOf(list: RawJson | undefined, authContext: ListingAuthContext, shape: ListShape): RawJson[] {
  if (list === undefined) return [];
  try {
    return rawElements(list, authContext.limits.listItems);
  } catch (cause) {
    if (cause instanceof TooManyElements)
      throw tooMuch(authContext, shape, `has more than ${authContext.limits.listItems} items`);
    if (!(cause instanceof RawJsonError)) throw cause;
    throw tooMuch(authContext, shape, 'is not an array');
  }
}

function tooMuch({ backend }: ListingAuthContext, shape: ListShape, sentence: string): ConnectionFailure {
  return new ConnectionFailure(
    backend.name,
    'protocol',
    `answered ${shape.method} with an invalid list: it ${sentence}`,
  );
}

function sameItems(one: readonly ListedItem[], other: readonly ListedItem[]): boolean {
  if (one.length !== other.length) return false;
  return one.every((item, at) => {
    const twin = other[at];
    return twin !== undefined && twin.key === item.key && twin.definition.equals(item.definition);
  });
}
