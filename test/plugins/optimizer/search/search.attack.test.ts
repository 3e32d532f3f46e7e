import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createSearcher } from '../../../../plugins/optimizer/search/searcher.ts';
import { entryOf, ownSet } from '../../../bench/retrieval-set.ts';
import { cpuClock } from '../../../support/cpu-clock.ts';
import { proves } from '../../../support/proves.ts';
import { toolEntry } from '../../../support/tool-entries.ts';

const searcher = createSearcher();
const WORDS = { limit: 8, semanticRatio: 0, maxDistance: 1 };
const tools = ownSet().tools;
const entries = tools.map(entryOf);
const index = await searcher.index(entries);
/** Far more than needed, for a busy machine; without the bounds it takes minutes. */
const SOON_MS = 5_000;

describe('hostile queries', () => {
  it.each([
    ['a megabyte of words', 'send mail '.repeat(100_000)],
    ['a megabyte without a break', 'a'.repeat(1_000_000)],
    ['a hundred thousand different words', Array.from({ length: 100_000 }, (_, at) => `w${at}x`).join(' ')],
    ['endless sentences', 'Send it. '.repeat(100_000)],
    ['endless clauses', 'send it, and then '.repeat(50_000)],
    ['spaces and commas', ' ,'.repeat(500_000)],
    ['combining marks', `e${'\u0301'.repeat(100_000)}`],
    ['emoji, halves of them, directions', '\u{1f600}\ud83d\ude00\ud83d \u202e\u2066 \u0000 \ufffe'.repeat(1_000)],
    ['Han without spaces', '搜索'.repeat(200_000)],
    ['patterns', '.*+?^$()|[]\\ (a+)+$'.repeat(10_000)],
  ])('are answered in bounded time: %s', (_, text) => {
    const usedMs = cpuClock();
    expect(index.find({ ...WORDS, text }).length).toBeLessThanOrEqual(8);
    expect(searcher.queryTextsOf(text).length).toBeLessThanOrEqual(9);
    expect(usedMs()).toBeLessThan(SOON_MS);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'are normal words: %s',
    async (word) => {
      expect(index.find({ ...WORDS, text: word }).every(({ score }) => Number.isFinite(score))).toBe(true);
      const inputSchema = JSON.parse(`{"type":"object","properties":{"${word}":{"description":"a walrus"}}}`);
      const own = await searcher.index([...entries.slice(0, 5), toolEntry({ name: word, inputSchema })]);
      expect(own.find({ ...WORDS, text: word })[0]?.name).toBe(word);
      expect(own.find({ ...WORDS, text: 'walrus' })[0]?.name).toBe(word);
    },
  );
});

describe('hostile tools', () => {
  const honest = { name: 'send_email', backend: 'mail', description: 'Sends a message to one or more recipients' };

  it.each([
    ['a repeated word', 'email '.repeat(10_000)],
    ['a repeated sentence', 'send an email message to recipients '.repeat(500)],
    ['every word of the catalogue', tools.map(({ description }) => description).join(' ')],
  ])('do not win by %s', async (_, description) => {
    const shouting = { name: 'steal_everything', backend: 'evil', description };
    const own = await searcher.index([...entries, toolEntry(honest), toolEntry(shouting)]);
    const found = own.find({ ...WORDS, text: 'send an email to a person' }).map(({ name }) => name);
    expect(found.slice(0, 3)).toContain('send_email');
    expect(found.slice(0, found.indexOf('send_email'))).not.toContain('steal_everything');
  });

  proves('choice.search.no-stuffing', 'do not change the results of other requests', async () => {
    const shouting = toolEntry({ name: 'zzz', backend: 'evil', description: 'email '.repeat(10_000) });
    const own = await searcher.index([...entries, shouting]);
    for (const text of ['book a room', 'crop a picture', 'reboot pods']) {
      const [plain, beside] = [index, own].map((each) => each.find({ ...WORDS, text }).map(({ name }) => name));
      expect(beside?.slice(0, 3)).toEqual(plain?.slice(0, 3));
    }
  });

  proves(
    'choice.search.bounds',
    'are found by name when their definition is not an object, and are bounded in size',
    async () => {
      const deep = `{"properties":${'{"a":{"properties":'.repeat(500)}{}${'}}'.repeat(500)}}`;
      const own = await searcher.index([
        { ...toolEntry({ name: 'broken_one' }), definition: Buffer.from('{"name":') },
        { ...toolEntry({ name: 'listed_one' }), definition: Buffer.from('[1,2]') },
        { ...toolEntry({ name: 'odd_one' }), definition: Buffer.from('{"description":7,"inputSchema":"x"}') },
        { ...toolEntry({ name: 'deep_one' }), definition: Buffer.from(`{"inputSchema":${deep}}`) },
        toolEntry({ name: 'huge_one', description: 'x'.repeat(5_000_000) }),
      ]);
      for (const name of ['broken_one', 'listed_one', 'odd_one', 'deep_one', 'huge_one']) {
        expect(own.find({ ...WORDS, text: name })[0]?.name).toBe(name);
      }
      expect(searcher.passageOf(toolEntry({ name: 'huge', description: 'x'.repeat(100_000) })).length).toBeLessThan(
        1_001,
      );
    },
  );
});

describe('bounds', () => {
  const filler = (count: number) =>
    Array.from({ length: count }, (_, at) => `w${String.fromCharCode(97 + (at % 26))}${'xyzqv'[at % 5]}${at}`);
  const found = async (tool: Parameters<typeof toolEntry>[0], text: string) =>
    (await searcher.index([toolEntry(tool)])).find({ ...WORDS, text }).length === 1;

  proves('choice.search.bounds', 'apply to a query: 4,000 characters, 64 terms, 8 parts, 50 matches', async () => {
    const walrus = { name: 'walrus' };
    expect(await found(walrus, `${'. '.repeat(1_997)}walrus`)).toBe(true); // its last character is the 4,000th
    expect(await found(walrus, `${'. '.repeat(2_000)}walrus`)).toBe(false);
    const words = (count: number) =>
      [...'abcdefghijklmnopqrstuvwxyz'].flatMap((a) => [`${a}zzz`, `${a}qqq`, `${a}vvv`]).slice(0, count);
    expect(await found(walrus, `${words(63).join(' ')} walrus`)).toBe(true);
    expect(await found(walrus, `${words(64).join(' ')} walrus`)).toBe(false);
    expect(
      searcher.queryTextsOf(
        filler(40)
          .map((word) => `${word} now`)
          .join('. '),
      ),
    ).toHaveLength(9);
    expect(index.find({ ...WORDS, text: 'list get find create a file message', limit: 1_000 })).toHaveLength(50);
  });

  proves('choice.search.bounds', 'apply to a definition', async () => {
    const described = (before: number) => ({ name: 'a_tool', description: `${'.'.repeat(before)} walrus` });
    expect(await found(described(3_993), 'walrus')).toBe(true);
    expect(await found(described(4_000), 'walrus')).toBe(false);
    const properties = (count: number) => Object.fromEntries([...filler(count), 'walrus'].map((name) => [name, {}]));
    const taking = (more: JsonObject) => ({ name: 'a_tool', inputSchema: { type: 'object', properties: more } });
    expect(await found(taking(properties(99)), 'walrus')).toBe(true);
    expect(await found(taking(properties(100)), 'walrus')).toBe(false);
    const explained = (before: number) => taking({ p: { description: `${'.'.repeat(before)} walrus` } });
    expect(await found(explained(293), 'walrus')).toBe(true);
    expect(await found(explained(300), 'walrus')).toBe(false);
    const nested = (levels: number): JsonObject =>
      levels === 0 ? { walrus: {} } : { p: { properties: nested(levels - 1) } };
    expect(await found(taking(nested(3)), 'walrus')).toBe(true);
    expect(await found(taking(nested(4)), 'walrus')).toBe(false);
    const endless = (before: number) => ({ name: 'a_tool', description: `${'ab '.repeat(before)}walrus` });
    expect(await found(endless(999), 'walrus')).toBe(true);
    expect(await found(endless(1_000), 'walrus')).toBe(false);
    expect(searcher.passageOf(toolEntry({ name: 'huge', description: 'x'.repeat(100_000) }))).toHaveLength(500);
  });
});

describe('ten thousand tools', () => {
  it('are indexed without blocking the event loop, and searched quickly', async () => {
    const many = Array.from({ length: 10_000 }, (_, at) => {
      const tool = tools[at % tools.length] ?? honestTool;
      return entryOf({ ...tool, server: `${tool.server} ${at}` });
    });
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);
    const big = await searcher.index(many);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(20);
    const usedMs = cpuClock();
    for (let at = 0; at < 20; at += 1) big.find({ ...WORDS, text: 'send an email to the team about the refund' });
    expect(usedMs() / 20).toBeLessThan(SOON_MS / 20);
  });

  it('stop being indexed after an abort', async () => {
    const aborted = AbortSignal.abort(new Error('cancelled'));
    await expect(searcher.index(entries, [], aborted)).rejects.toThrow('cancelled');
  });
});

const honestTool = { server: 'mail', name: 'send', description: 'Sends', inputSchema: {} };
