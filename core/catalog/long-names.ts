import type { CatalogEntry } from '../contract/call.ts';
import { isLongerThan } from '../json/byte-pieces.ts';
import type { Limits } from '../limits.ts';

/**
 * The entries that clients can name: a request with a longer name or URI is refused, so the entry is not listed either.
 * Each entry that is left out adds a warning, with the start of its name.
 */
export function withoutLongNames<E extends CatalogEntry>(
  entries: readonly E[],
  { nameBytes, uriBytes }: Pick<Limits, 'nameBytes' | 'uriBytes'>,
  warnings: string[],
): readonly E[] {
  return entries.filter(({ kind, key, backend }) => {
    const [what, limit] = kind === 'tool' || kind === 'prompt' ? ['name', nameBytes] : ['URI', uriBytes];
    if (!isLongerThan(key, limit)) return true;
    const start = key.slice(0, SHOWN);
    warnings.push(
      `backend ${backend} lists a ${kind} with a ${what} of more than ${limit} bytes ("${start}…"): left out`,
    );
    return false;
  });
}

const SHOWN = 64;
