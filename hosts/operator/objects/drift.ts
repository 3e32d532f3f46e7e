import { isObject } from '@toolmgr/core';

/**
 * Whether an object has every value that was applied. What others added stays: keys of maps, and items of the lists that
 * several managers share.
 */
export function hasApplied(live: unknown, applied: unknown): boolean {
  return has(live, applied, '');
}

/** The values of a live object at the places of an applied one, e.g. as the API server writes quantities. */
export function valuesAt(live: unknown, applied: unknown): unknown {
  if (!isObject(applied)) return live;
  if (!isObject(live)) return live;
  return Object.fromEntries(Object.entries(applied).map(([key, value]) => [key, valuesAt(live[key], value)]));
}

/** Lists to which others may add items. All other lists belong to one manager as a whole. */
const SHARED =
  /^(metadata\.(ownerReferences|finalizers)|imagePullSecrets|spec\.ports|spec\.template\.spec\.(volumes|imagePullSecrets|hostAliases|resourceClaims|schedulingGates|topologySpreadConstraints|(initContainers|containers)(\[\]\.(env|ports|volumeMounts|volumeDevices|resources\.claims))?))$/;

function has(live: unknown, applied: unknown, path: string): boolean {
  // the API server leaves out empty lists
  if (Array.isArray(applied) && applied.length === 0 && live === undefined) return true;
  if (Array.isArray(applied)) return Array.isArray(live) && hasItems(live, applied, path);
  if (!isObject(applied)) return live === applied;
  return (
    isObject(live) &&
    Object.entries(applied).every(
      ([key, value]) => value === undefined || has(live[key], value, path === '' ? key : `${path}.${key}`),
    )
  );
}

function hasItems(live: readonly unknown[], applied: readonly unknown[], path: string): boolean {
  const inside = `${path}[]`;
  if (!SHARED.test(path)) {
    return live.length === applied.length && applied.every((item, at) => has(live[at], item, inside));
  }
  return applied.every((item) => live.some((each) => has(each, item, inside)));
}
