import { isObject } from '@toolmgr/core';

/** The file of a server is a ConfigMap, which has at most 1 MiB, and checks take time in proportion. */
export const MAX_BYTES = 262_144;
/** Checks are recursive. */
const MAX_DEPTH = 64;

/** Why a spec is not even checked; `undefined` when it may be. */
export function oversize(spec: unknown): string | undefined {
  const deep = tooDeep(spec);
  if (deep !== undefined) return deep;
  const bytes = Buffer.byteLength(JSON.stringify(spec) ?? '');
  return bytes <= MAX_BYTES ? undefined : `spec: ${bytes} bytes of JSON, expected at most ${MAX_BYTES}`;
}

/** Why recursive code cannot read a spec; `undefined` when it can. Nothing here is recursive. */
export function tooDeep(spec: unknown): string | undefined {
  let level: readonly unknown[] = [spec];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `spec: nested more than ${MAX_DEPTH} deep`;
    level = level.flatMap((value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []));
  }
  return undefined;
}
