import { checkParseEntities, type EntityJson, type EntityUidJson } from '@cedar-policy/cedar-wasm/nodejs';
import { uidKey } from './expression.ts';

/** Entities of the configuration by their keys. */
export type StaticEntities = ReadonlyMap<string, EntityJson>;

/** Over it each decision would carry a directory. */
const MAX_ENTITIES = 10_000;

/**
 * Reads `entitiesJson`: a JSON array of Cedar entities, `{ uid, attrs, parents }`.
 * Fails as a sentence with the position in the text, or the index of the entity that is wrong.
 */
export function readEntities(text: string): { readonly entities: StaticEntities } | { readonly message: string } {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    return { message: `is not JSON: ${positioned(text, (cause as Error).message)}` };
  }
  if (!Array.isArray(given)) return { message: 'expected a JSON array of entities' };
  if (given.length > MAX_ENTITIES) return { message: `more than ${MAX_ENTITIES} entities` };
  const entities = new Map<string, EntityJson>();
  for (const [index, entity] of (given as EntityJson[]).entries()) {
    const wrong = wrongIn([entity]);
    if (wrong !== undefined) return { message: `[${index}]: ${wrong}` };
    const key = keyOf(entity.uid);
    if (entities.has(key)) return { message: `[${index}]: ${key} stands twice` };
    entities.set(key, entity);
  }
  const wrong = wrongIn([...entities.values()]); // circles show only together
  return wrong === undefined ? { entities } : { message: wrong };
}

/** The key of a uid in either of its spellings. */
export function keyOf(uid: EntityUidJson): string {
  const { type, id } = '__entity' in uid ? uid.__entity : uid;
  return uidKey(type, id);
}

/** The entities that can be reached from some keys by parents and attributes; what is not there ends a way. */
export function reachableFrom(entities: StaticEntities, keys: Iterable<string>): StaticEntities {
  const reached = new Map<string, EntityJson>();
  const waiting = [...keys];
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const entity = entities.get(key);
    if (entity === undefined || reached.has(key)) continue;
    reached.set(key, entity);
    for (const parent of entity.parents) waiting.push(keyOf(parent));
    noteReferences([entity.attrs, entity.tags], waiting);
  }
  return reached;
}

function noteReferences(value: unknown, keys: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  if (typeof type === 'string' && typeof id === 'string') keys.push(uidKey(type, id));
  for (const inner of Object.values(value)) noteReferences(inner, keys);
}

function wrongIn(entities: EntityJson[]): string | undefined {
  try {
    const checked = checkParseEntities({ entities });
    return checked.type === 'success' ? undefined : (checked.errors[0]?.message ?? 'is no entity');
  } catch (cause) {
    return (cause as Error).message; // the shape is so wrong that it does not even reach the check
  }
}

function positioned(text: string, message: string): string {
  const offset = /at position (\d+)/.exec(message)?.[1];
  if (offset === undefined || message.includes('line ')) return message;
  const lines = text.slice(0, Number(offset)).split('\n');
  return `${message} (line ${lines.length} column ${(lines.at(-1) ?? '').length + 1})`;
}
