import type { SearchIndex } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { partsOf } from '../../../../plugins/optimizer/search/query-parts.ts';
import { createSearcher } from '../../../../plugins/optimizer/search/searcher.ts';
import { entryOf, ownSet } from '../../../bench/retrieval-set.ts';
import fc from '../../../support/fast-check.ts';
import { proves } from '../../../support/proves.ts';
import { toolEntry, type WrittenTool } from '../../../support/tool-entries.ts';

const searcher = createSearcher();
const entries = ownSet().tools.map(entryOf);
const whole = await searcher.index(entries);

const WORDS = { limit: 8, semanticRatio: 0, maxDistance: 1 };
const names = (index: SearchIndex, query: Partial<Parameters<SearchIndex['find']>[0]> & { text: string }): string[] =>
  index.find({ ...WORDS, ...query }).map(({ name }) => name);

const asVector = (...numbers: number[]): Float32Array => {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
};

const TOOLS: readonly WrittenTool[] = [{ name: 'alpha' }, { name: 'beta' }, { name: 'gamma' }, { name: 'delta' }];
const VECTORS = [asVector(1, 0, 0), asVector(1, 1, 0), asVector(-1, 0, 0), undefined];
const greek = await searcher.index(TOOLS.map(toolEntry), VECTORS);

describe('ranking by keywords', () => {
  proves('choice.search.by-name', 'ranks every tool first for its name', () => {
    for (const { key } of entries) expect(names(whole, { text: key })[0]).toBe(key);
    expect(names(whole, { text: 'please use kanban_card.archive for the old ones' })[0]).toBe('kanban_card.archive');
  });

  it('does not treat a common word as a name', async () => {
    const tools = [
      { name: 'load', description: 'Loads audio' },
      { name: 'fill_washer', description: 'Puts laundry into the machine, a load of washing at a time' },
    ];
    const index = await searcher.index(tools.map(toolEntry));
    expect(names(index, { text: 'a load of washing for the machine' })[0]).toBe('fill_washer');
  });

  it('matches misspellings, compounds and synonyms', async () => {
    const index = await searcher.index(
      [
        { name: 'calculate_sum', description: 'Adds numbers' },
        { name: 'draw_flow_chart', description: 'Boxes and arrows' },
        { name: 'delete_note', description: 'Drops it' },
      ].map(toolEntry),
    );
    expect(names(index, { text: 'caculate' })[0]).toBe('calculate_sum');
    expect(names(index, { text: 'flowchart' })[0]).toBe('draw_flow_chart');
    expect(names(index, { text: 'remove' })).toEqual(['delete_note']);
  });

  it('reads nested parameters, enum values, titles and the backend', async () => {
    const inputSchema = {
      type: 'object',
      properties: { outer: { type: 'object', properties: { walrus: { type: 'string', enum: ['zebra'] } } } },
    };
    const tool = { ...toolEntry({ name: 'plain', backend: 'aquarium', inputSchema }) };
    const titled = toolEntry({ name: 'other', backend: 'zoo', description: 'Nothing' });
    const definition = Buffer.from(JSON.stringify({ name: 'other', annotations: { title: 'Penguin parade' } }));
    const index = await searcher.index([tool, { ...titled, definition }]);
    for (const text of ['walrus', 'zebra', 'aquarium']) expect(names(index, { text })).toEqual(['plain']);
    expect(names(index, { text: 'penguins' })).toEqual(['other']);
  });

  it('uses the keywords of the client in addition to the text', () => {
    const found = names(whole, { text: 'do it', keywords: ['dim', 'lamps'] });
    expect(found[0]).toBe('smart-home_set_light');
  });

  proves('choice.search.parts', 'ranks the tools of each part of a long query at the top', () => {
    const text = 'Turn speech into text, translates text into another language, and reserve a conference room.';
    expect(names(whole, { text })).toEqual(
      expect.arrayContaining(['audio_transcribe', 'translate_translate_text', 'calendar_book_room']),
    );
  });

  proves('choice.search.long-questions', 'finds the tools of the last of many parts', () => {
    const chores = ['water the garden', 'feed the cat', 'sweep the stairs', 'iron two shirts', 'peel some potatoes'];
    const text = [...chores, ...chores.map((chore) => `${chore} again`), 'reserve a conference room'].join('. ');
    expect(names(whole, { text }).slice(0, 3)).toContain('calendar_book_room');
  });

  proves('choice.search.values', 'does not match tools by the values in a query', () => {
    const found = (text: string) => names(whole, { text })[0];
    expect(found('send an email with the subject "invoice payment refund charge"')).toBe('mailbox_send_email');
    expect(found('read the text file /home/calendar/event/booking.txt')).toMatch(/^filesystem_read/);
    expect(found('transcribe https://video.example/clips/captions/subtitles')).toBe('audio_transcribe');
  });

  it('returns only allowed tools, best first, and none when none is allowed', () => {
    expect(names(whole, { text: 'calendar', allowed: new Set() })).toEqual([]);
    fc.assert(
      fc.property(
        fc.subarray(entries.map(({ key }) => key)),
        fc.constantFrom('book a room', 'list files', 'send a message to the team', 'price of a share'),
        fc.integer({ min: 0, max: 60 }),
        (keys, text, limit) => {
          const allowed = new Set(keys);
          const found = whole.find({ ...WORDS, text, allowed, limit });
          expect(found.length).toBeLessThanOrEqual(Math.min(limit, 50));
          expect(found.every(({ name }) => allowed.has(name))).toBe(true);
          expect(new Set(found.map(({ name }) => name)).size).toBe(found.length);
          expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).sort((a, b) => b - a));
        },
      ),
      { numRuns: 50 },
    );
  });

  proves('choice.search.allowed', 'does not lower allowed tools because of forbidden ones', () => {
    const free = names(whole, { text: 'refund an order', limit: 50 });
    const allowed = new Set(free.slice(2));
    expect(names(whole, { text: 'refund an order', limit: 50, allowed })).toEqual(free.slice(2));
  });

  proves('choice.search.order', 'does not depend on the order of the catalogue', async () => {
    const reversed = await searcher.index([...entries].reverse());
    for (const text of ['money back', 'list everything', 'a picture of the sea']) {
      expect(reversed.find({ ...WORDS, text })).toEqual(whole.find({ ...WORDS, text }));
    }
  });
});

describe('ranking by vectors', () => {
  const vectors = [asVector(1, 0.1, 0)];

  proves('choice.search.one-scale', 'uses only keywords at ratio 0 and only vectors at ratio 1', () => {
    expect(names(greek, { text: 'gamma', vectors, semanticRatio: 0, maxDistance: 2 })).toEqual(['gamma']);
    expect(names(greek, { text: 'gamma', vectors, semanticRatio: 1, maxDistance: 1 })).toEqual(['alpha', 'beta']);
  });

  proves('choice.search.distance', 'drops tools above the distance, but keeps keyword matches', () => {
    expect(names(greek, { text: 'x', vectors, semanticRatio: 1, maxDistance: 0.1 })).toEqual(['alpha']);
    expect(names(greek, { text: 'x', vectors, semanticRatio: 1, maxDistance: 2 })).toEqual(['alpha', 'beta', 'gamma']);
    const mixed = names(greek, { text: 'gamma', vectors, semanticRatio: 0.5, maxDistance: 0.1 });
    expect([...mixed].sort()).toEqual(['alpha', 'gamma']);
  });

  proves('choice.search.far-behind', 'drops tools far below the best score', async () => {
    const far = [...TOOLS, { name: 'epsilon' }];
    const index = await searcher.index(far.map(toolEntry), [...VECTORS, asVector(0.2, 1, 0)]);
    const query = { text: 'x', vectors, maxDistance: 2 };
    expect(names(index, { ...query, semanticRatio: 1 })).toEqual(['alpha', 'beta', 'epsilon', 'gamma']);
    expect(names(index, { ...query, semanticRatio: 0.5 })).toEqual(['alpha', 'beta']);
    // a tool that is named in the query does not remove the others
    expect(names(index, { ...query, text: 'alpha', semanticRatio: 0.9 })).toEqual(['alpha', 'beta']);
  });

  it('gives the full weight to the only tool within the distance', () => {
    const [first] = greek.find({ ...WORDS, text: 'x', vectors, semanticRatio: 0.5, maxDistance: 0.1 });
    expect(first).toEqual({ name: 'alpha', score: 0.5 });
  });

  it('finds a tool without a vector by keywords', () => {
    expect(names(greek, { text: 'delta', vectors, semanticRatio: 0.5 })).toContain('delta');
  });

  proves('choice.search.without-vectors', 'uses keywords only without vectors of the query', () => {
    expect(names(greek, { text: 'beta', semanticRatio: 1 })).toEqual(['beta']);
  });

  it('reports vectors of different lengths', async () => {
    await expect(searcher.index(TOOLS.map(toolEntry), [asVector(1, 0), asVector(1, 0, 0)])).rejects.toThrow(RangeError);
    const query = { ...WORDS, text: 'x', vectors: [asVector(1, 0)], semanticRatio: 1 };
    expect(() => greek.find(query)).toThrow('the query has 2 numbers, the tools 3');
  });
});

describe('splitting a query', () => {
  it.each([
    ['find a hotel', ['find a hotel']],
    ['', ['']],
    ['Get the log. Report it.', ['Get the log. Report it.', 'Get the log', 'Report it']],
    ['search and replace', ['search and replace']],
    ['read v1.2 of notes.txt', ['read v1.2 of notes.txt']],
  ])('%s', (text, parts) => {
    expect(partsOf(text)).toEqual(parts);
  });

  it('loses no word of a query with many parts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{3,9} [a-z]{3,9}$/), { minLength: 9, maxLength: 60 }),
        (rankQuery) => {
          const [, ...parts] = partsOf(rankQuery.join('. '));
          expect(rankQuery.filter((each) => !parts.some((part) => part.includes(each)))).toEqual([]);
          expect(parts.length).toBeLessThanOrEqual(8);
        },
      ),
    );
  });

  it('joins the shortest neighbours', () => {
    const long = Array.from({ length: 7 }, (_, at) => `look at the very long matter number ${'i'.repeat(at + 1)}`);
    const [first = '', ...rest] = long;
    expect(partsOf([first, 'feed cats', 'walk dogs', ...rest].join('. ')).slice(1)).toEqual([
      first,
      'feed cats. walk dogs',
      ...rest,
    ]);
  });

  it('returns the whole and at most eight parts for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
        const parts = partsOf(text);
        expect(parts.length).toBeGreaterThan(0);
        expect(parts.length).toBeLessThanOrEqual(9);
        expect(parts).not.toHaveLength(2);
      }),
    );
  });
});
