import { describe, expect, it } from 'vitest';
import { matchesOf } from '../../../plugins/result-limits/page.ts';

const request = { offset: 0, limit: undefined, bytes: 8_192 };

/** The character offsets that a search answers with. */
const placesOf = (text: string, search: string) =>
  [...matchesOf(text, search, request).text.matchAll(/^(\d+): /gm)].map(([, place]) => Number(place));

describe('a search of a kept result', () => {
  it('finds each place, also one at the end of what is shown around another', () => {
    for (const between of [0, 50, 97, 98, 100, 200]) {
      const text = `error${'.'.repeat(between)}error${'.'.repeat(300)}`;
      expect(placesOf(text, 'error'), String(between)).toEqual([0, 5 + between]);
    }
  });
});
