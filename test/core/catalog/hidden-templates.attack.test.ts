import type { CatalogEntry } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { unlistedFinder } from '../../../core/catalog/unlisted-resources.ts';
import { MAX_MATCHED_URI } from '../../../core/catalog/uri-template.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { listingOf, type Offer } from '../../support/listings.ts';

const BACKENDS = ['evil', 'good'];

/** The finder of a catalogue that shows resources only; it hides all templates. */
function finderOf(evil: Offer) {
  const offers = [listingOf('evil', evil), listingOf('good', { resources: ['docs://open/1'] })];
  const listings = offers.map((listing) => ({
    ...listing,
    hello: { ...listing.hello, capabilities: { resources: {} } },
  }));
  const shown = listings.flatMap(({ backend, resources }) => resources.map((item) => ({ ...item, backend })));
  const find = unlistedFinder(
    new Map(listings.map((listing) => [listing.backend, listing])),
    shown as unknown as readonly CatalogEntry[],
    BACKENDS,
  );
  find('docs://open/2'); // reads the lists
  return find;
}

describe('hidden templates of a hostile backend', () => {
  const crowd = Array.from({ length: 2_000 }, (_, n) => `{+a${n}}${'{+b}~'.repeat(30)}`);

  it('cost the readers of other resources a bounded time, however many they are', () => {
    const find = finderOf({ templates: crowd });
    const uri = `docs://open/${'z'.repeat(MAX_MATCHED_URI - 100)}`;
    const usedMs = cpuClock();
    for (let n = 0; n < 5; n++) expect(find(`${uri}${n}`)).toMatchObject({ entry: { backend: 'good' } });
    expect(usedMs()).toBeLessThan(500);
  });

  it('let it have no unlisted resource when they are too many, and give none of its own to another backend', () => {
    expect(finderOf({ resources: ['evil://1'] })('evil://2')).toMatchObject({ entry: { backend: 'evil' } });
    expect(finderOf({ resources: ['evil://1'], templates: ['evil://{id}'] })('evil://2')).toEqual({ among: [] });
    expect(finderOf({ resources: ['evil://1'], templates: crowd })('evil://2')).toEqual({ among: [] });
    expect(finderOf({ resources: ['evil://1'], templates: crowd })('other://2')).toEqual({ among: BACKENDS });
  });
});
