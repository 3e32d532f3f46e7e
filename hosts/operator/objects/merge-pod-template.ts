import { isObject } from '@toolmgr/core';
import type { PodTemplate } from './built-in-kinds.ts';

/** A merged template, or why the patch cannot be merged. */
export type MergedTemplate = { readonly template: PodTemplate } | { readonly problem: string };

/**
 * Merges the `podTemplateSpec` of a user into a generated pod template, as `kubectl patch --type strategic` does: maps key by
 * key, lists of {@link LIST_KEYS} item by item, other lists as a whole; `null` removes a key. Neither input is changed.
 *
 * Directives: `$patch: delete` and `$patch: replace` in maps and items, `$retainKeys`, `$deleteFromPrimitiveList/KEY`;
 * `$setElementOrder/KEY` is refused. Source: Kubernetes strategic merge patch.
 */
export function mergePodTemplate(template: PodTemplate, patch: unknown): MergedTemplate {
  if (!isObject(patch)) return { problem: 'it must be an object with metadata and spec' };
  const unknown = Object.keys(patch).find((key) => key !== 'metadata' && key !== 'spec');
  if (unknown !== undefined)
    return { problem: `${shown(unknown)} is no key of a pod template; it has metadata and spec` };
  const problems: string[] = [];
  const merged = mergeMap(template as unknown as Json, patch, { path: '', depth: 0, problems });
  const problem = problems[0];
  if (problem !== undefined) return { problem };
  return { template: merged as unknown as PodTemplate };
}

/** Key by which the items of a list are matched. Other lists are replaced. Source: `patchMergeKey` in Kubernetes `core/v1`. */
const LIST_KEYS: Readonly<Record<string, string>> = Object.fromEntries([
  ...['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) => [
    [`spec.${list}`, 'name'],
    [`spec.${list}[].env`, 'name'],
    [`spec.${list}[].ports`, 'containerPort'],
    [`spec.${list}[].resources.claims`, 'name'],
    [`spec.${list}[].volumeDevices`, 'devicePath'],
    [`spec.${list}[].volumeMounts`, 'mountPath'],
  ]),
  ['spec.hostAliases', 'ip'],
  ['spec.imagePullSecrets', 'name'],
  ['spec.resourceClaims', 'name'],
  ['spec.schedulingGates', 'name'],
  ['spec.topologySpreadConstraints', 'topologyKey'],
  ['spec.volumes', 'name'],
]);

/** Pod templates are at most 12 deep; the API accepts much deeper texts. */
const MAX_DEPTH = 32;
const SHOWN = 80;

type Json = Readonly<Record<string, unknown>>;

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly problems: string[];
}

function mergeMap(base: Json, patch: Json, place: Place): Json {
  if (place.depth > MAX_DEPTH) return fail(place, `it is deeper than ${MAX_DEPTH} levels`, base);
  const directive = patch.$patch;
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge') {
    return fail(place, `$patch must be delete, replace or merge`, base);
  }
  const merged = new Map(Object.entries(directive === 'replace' ? {} : base));
  const retained = patch.$retainKeys;
  if (retained !== undefined) {
    if (!isNames(retained)) return fail(place, '$retainKeys must be a list of keys', base);
    for (const key of merged.keys()) if (!retained.includes(key)) merged.delete(key);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key === '$patch' || key === '$retainKeys') continue;
    if (key.startsWith('$')) removeFromList(merged, key, value, place);
    else if (value === null) merged.delete(key);
    else merged.set(key, mergeValue(merged.get(key), value, below(place, key)));
  }
  return Object.fromEntries(merged);
}

function mergeValue(base: unknown, patch: unknown, place: Place): unknown {
  const key = LIST_KEYS[place.path];
  if (key !== undefined && !Array.isArray(patch)) return fail(place, 'it must be a list', base);
  if (isObject(patch)) return mergeMap(isObject(base) ? base : {}, patch, place);
  if (!Array.isArray(patch)) return patch;
  if (key === undefined)
    return patch.map((item) =>
      mergeValue(undefined, item, { ...place, path: `${place.path}[]`, depth: place.depth + 1 }),
    );
  return mergeList(Array.isArray(base) ? base : [], patch, key, place);
}

/** Items that match keep their place; others are added at the end. */
function mergeList(base: readonly unknown[], patch: readonly unknown[], key: string, place: Place): readonly unknown[] {
  const items: Json[] = [];
  for (const [index, item] of patch.entries()) {
    const at = { ...place, path: `${place.path}[${index}]` };
    if (!isObject(item)) return fail(at, 'it must be an object', base);
    if (item.$patch === 'replace' && Object.hasOwn(item, key) === false) continue;
    const id = item[key];
    if (typeof id !== 'string' && typeof id !== 'number') {
      return fail(at, `it needs ${shown(key)}, by which items are matched`, base);
    }
    items.push(item);
  }
  const isReplaced = items.length < patch.length;
  const merged = new Map<unknown, unknown>();
  for (const item of isReplaced ? [] : base) if (isObject(item)) merged.set(item[key], item);
  const inside = { ...place, path: `${place.path}[]`, depth: place.depth + 1 };
  for (const item of items) {
    const found = merged.get(item[key]);
    if (item.$patch === 'delete') merged.delete(item[key]);
    else merged.set(item[key], mergeMap(isObject(found) ? found : {}, item, inside));
  }
  return [...merged.values()];
}

function removeFromList(merged: Map<string, unknown>, directive: string, value: unknown, place: Place): void {
  const key = directive.startsWith(FROM_LIST) ? directive.slice(FROM_LIST.length) : undefined;
  if (key === undefined || !Array.isArray(value)) {
    return void fail(
      place,
      `${shown(directive)} is not supported; $patch, $retainKeys and ${FROM_LIST}KEY are`,
      undefined,
    );
  }
  const list = merged.get(key);
  if (Array.isArray(list))
    merged.set(
      key,
      list.filter((item) => !value.includes(item)),
    );
}

const FROM_LIST = '$deleteFromPrimitiveList/';

function below({ path, depth, problems }: Place, key: string): Place {
  return { path: path === '' ? key : `${path}.${key}`, depth: depth + 1, problems };
}

function fail<T>({ path, problems }: Place, why: string, value: T): T {
  problems.push(path === '' ? why : `${shown(path)}: ${why}`);
  return value;
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function shown(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
