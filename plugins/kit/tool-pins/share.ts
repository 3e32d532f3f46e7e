import type { EntryPins, Pins } from './pins-file.ts';

/** What one backend may take of a pins file, which all backends of a gateway share. */
export const SHARE = { entries: 10_000, bytes: 4 * 1_048_576 } as const;

/** What a backend takes of a pins file. */
export interface BackendShare {
  readonly entries: number;
  readonly bytes: number;
}

/** The share of a backend in a pins file. */
export function shareOf({ backends }: Pins, backend: string): BackendShare {
  const entries = Object.entries((Object.hasOwn(backends, backend) ? backends[backend] : undefined) ?? {});
  return { entries: entries.length, bytes: entries.reduce((sum, [name, pins]) => sum + bytesOf(name, pins), 0) };
}

/** The share after an entry changed; `full` when it would be too large. */
export function withinShare(
  share: BackendShare,
  name: string,
  before: EntryPins,
  after: EntryPins,
): BackendShare | 'full' {
  const isNew = before.approved.length + before.held.length + before.rejected.length === 0;
  const entries = share.entries + (isNew ? 1 : 0);
  const bytes = share.bytes + bytesOf(name, after) - (isNew ? 0 : bytesOf(name, before));
  return entries > SHARE.entries || bytes > SHARE.bytes ? 'full' : { entries, bytes };
}

const known = new WeakMap<EntryPins, number>();

/** As the file has it: a deep definition takes many times its bytes in spaces. */
function bytesOf(name: string, pins: EntryPins): number {
  const bytes = known.get(pins) ?? Buffer.byteLength(JSON.stringify([[[pins]]], undefined, 2));
  known.set(pins, bytes);
  return bytes + Buffer.byteLength(JSON.stringify(name));
}
