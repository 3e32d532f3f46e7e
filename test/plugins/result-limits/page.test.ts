import { describe, expect, it } from 'vitest';
import { charactersOf, linesOf, matchesOf } from '../../../plugins/result-limits/page.ts';

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

  it('is without regard to case, also beside a letter whose lower case is longer', () => {
    expect(placesOf('İ ERROR 😀 Error', 'eRRor')).toEqual([2, 11]);
    expect(placesOf('in İstanbul', 'İSTANBUL')).toEqual([3]);
    expect(placesOf('in İstanbul', 'istanbul')).toEqual([3]);
  });
});

describe('a page behind the end of a text', () => {
  it('is empty, and says how long the text is', () => {
    const behind = { ...request, offset: 99 };
    expect(charactersOf('abc', behind)).toEqual({ about: 'the text has only 3 characters', text: '' });
    expect(linesOf('abc', behind)).toEqual({ about: 'the text has fewer than 100 lines', text: '' });
    expect(charactersOf('abc', { ...request, offset: 3 }).about).toBe('characters 3 to 3 of 3; the end');
  });
});
