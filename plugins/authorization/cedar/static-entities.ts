import { checkParseEntities, type EntityJson, type EntityUidJson } from '@cedar-policy/cedar-wasm/nodejs';
import { nestingProblem } from './nesting.ts';
import { uidKey } from './references.ts';

/** Entities of the configuration by their keys. */
export type StaticEntities = ReadonlyMap<string, EntityJson>;

/** Maximum number of entities. */
const MAX_ENTITIES = 10_000;

/**
 * Reads `entitiesJson`: a JSON array of Cedar entities, `{ uid, attrs, parents }`.
 * An error has the position in the text or the index of the entity.
 */
export function readEntities(text: string): { readonly entities: StaticEntities } | { readonly message: string } {
  const nested = nestingProblem(text);
  if (nested !== undefined) return { message: nested };
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    return { message: `is not JSON: ${withPosition(text, (cause as Error).message)}` };
  }
  if (!Array.isArray(given)) return { message: 'expected a JSON array of entities' };
  if (given.length > MAX_ENTITIES) return { message: `more than ${MAX_ENTITIES} entities` };
  const entities = new Map<string, EntityJson>();
  for (const [index, entity] of (given as EntityJson[]).entries()) {
    const wrong = errorIn([entity]);
    if (wrong !== undefined) return { message: `[${index}]: ${wrong}` };
    const key = keyOf(entity.uid);
    if (entities.has(key)) return { message: `[${index}]: duplicate entity ${key}` };
    entities.set(key, entity);
  }
  const wrong = errorIn([...entities.values()]); // cycles are found only in the whole set
  return wrong === undefined ? { entities } : { message: wrong };
}

/** The key of a uid in either format. */
export function keyOf(uid: EntityUidJson): string {
  const { type, id } = '__entity' in uid ? uid.__entity : uid;
  return uidKey(type, id);
}

/** The entities that are reachable from keys through parents and attributes. */
export function reachableFrom(entities: StaticEntities, keys: Iterable<string>): StaticEntities {
  const reached = new Map<string, EntityJson>();
  const pending = [...keys];
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    const entity = entities.get(key);
    if (entity === undefined || reached.has(key)) continue;
    reached.set(key, entity);
    for (const parent of entity.parents) pending.push(keyOf(parent));
    collectReferences([entity.attrs, entity.tags], pending);
  }
  return reached;
}

function collectReferences(value: unknown, keys: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  if (typeof type === 'string' && typeof id === 'string') keys.push(uidKey(type, id));
  for (const inner of Object.values(value)) collectReferences(inner, keys);
}

function errorIn(entities: EntityJson[]): string | undefined {
  try {
    const checked = checkParseEntities({ entities });
    return checked.type === 'success' ? undefined : (checked.errors[0]?.message ?? 'is not an entity');
  } catch (cause) {
    return (cause as Error).message; // a wrong shape throws before the check
  }
}

function withPosition(text: string, message: string): string {
  const offset = /at position (\d+)/.exec(message)?.[1];
  if (offset === undefined || message.includes('line ')) return message;
  const lines = text.slice(0, Number(offset)).split('\n');
  return `${message} (line ${lines.length} column ${(lines.at(-1) ?? '').length + 1})`;
}
