import { isObject } from '@toolmgr/core';

/** The file of a server is a ConfigMap, which has at most 1 MiB, and checks take time in proportion. */
const MAX_BYTES = 262_144;
/** Checks are recursive. */
const MAX_DEPTH = 64;

/** Why a spec is not even checked; `undefined` when it may be. Nothing here is recursive. */
export function oversize(spec: unknown): string | undefined {
  let level: readonly unknown[] = [spec];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `spec: nested more than ${MAX_DEPTH} deep`;
    level = level.flatMap((value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []));
  }
  const bytes = Buffer.byteLength(JSON.stringify(spec) ?? '');
  return bytes <= MAX_BYTES ? undefined : `spec: ${bytes} bytes of JSON, expected at most ${MAX_BYTES}`;
}
