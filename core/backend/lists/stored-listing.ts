import type { Backend, BackendHello } from '../../contract/backend.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { ListStore } from '../../contract/list-store.ts';
import type { Log } from '../../extension/plugin.ts';
import { decodeObject, isObject } from '../../json/json-value.ts';
import { readAnnotations } from '../../mcp/mirrored-params.ts';
import type { BackendListing, ListedItem } from '../backend-manager.ts';

/** Lists of a backend as a {@link ListStore} keeps them: each item is the text of the backend. */
export function storableListing({ era, hello, tools, prompts, resources, templates }: BackendListing): JsonObject {
  return {
    era,
    hello: { ...hello, instructions: hello.instructions ?? null },
    tools: textsOf(tools),
    prompts: textsOf(prompts),
    resources: textsOf(resources),
    templates: textsOf(templates),
  };
}

/** The lists of an earlier run by class; `undefined` when there are none, or none that are valid, which is logged. */
export function storedLists(
  store: ListStore | undefined,
  backend: Backend,
  log: Log,
): ReadonlyMap<string, BackendListing> | undefined {
  const value = store?.read(backend);
  if (value === undefined) return undefined;
  const listing = listingFrom(value, backend.name);
  if (listing !== undefined) return new Map([['', listing]]);
  log.warn('the lists of an earlier run are not used: they are not valid', { backend: backend.name });
  return undefined;
}

function listingFrom(value: unknown, backend: string): BackendListing | undefined {
  if (!isObject(value)) return undefined;
  const { era } = value;
  const hello = helloFrom(value.hello);
  const tools = itemsFrom(value.tools, 'name')?.flatMap(annotated);
  const prompts = itemsFrom(value.prompts, 'name');
  const resources = itemsFrom(value.resources, 'uri');
  const templates = itemsFrom(value.templates, 'uriTemplate');
  if (era !== '2025-11-25' && era !== '2026-07-28') return undefined;
  if (!hello || !tools || !prompts || !resources || !templates) return undefined;
  return { backend, era, hello, tools, prompts, resources, templates, isOfEarlierRun: true };
}

function helloFrom(value: unknown): BackendHello | undefined {
  if (!isObject(value)) return undefined;
  const { info, capabilities, instructions, protocolVersion } = value;
  if (!isObject(info) || !isObject(capabilities) || typeof protocolVersion !== 'string') return undefined;
  if (instructions !== null && typeof instructions !== 'string') return undefined;
  return { info, capabilities, instructions: instructions ?? undefined, protocolVersion };
}

/** `undefined` unless all are objects with distinct names. */
function itemsFrom(value: unknown, key: string): ListedItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = new Map<string, ListedItem>();
  for (const text of value) {
    const definition = Buffer.from(typeof text === 'string' ? text : '');
    const name = objectIn(definition)?.[key];
    if (typeof name !== 'string' || name === '' || items.has(name)) return undefined;
    items.set(name, { key: name, definition });
  }
  return [...items.values()];
}

function objectIn(text: RawJson): JsonObject | undefined {
  try {
    return decodeObject(text);
  } catch {
    return undefined;
  }
}

/** Invalid annotations were removed when the list was read. */
function annotated(item: ListedItem): ListedItem[] {
  const annotations = readAnnotations(item.definition);
  if (annotations === undefined) return [item];
  return 'mirrored' in annotations ? [{ ...item, mirrored: annotations.mirrored }] : [];
}

function textsOf(items: readonly ListedItem[]): string[] {
  return items.map(({ definition }) => definition.toString('utf8'));
}
