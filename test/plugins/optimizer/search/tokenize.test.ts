import { describe, expect, it } from 'vitest';
import { stem } from '../../../../plugins/optimizer/search/stem.ts';
import { termsOf } from '../../../../plugins/optimizer/search/tokenize.ts';
import fc from '../../../support/fast-check.ts';

const terms = (text: string): string[] => termsOf(text, 100);

describe('splitting into terms', () => {
  it.each([
    ['read_file', ['read', 'file']],
    ['get-station-code', ['get', 'station', 'code']],
    ['order.ship', ['order', 'ship']],
    ['getHTTPStatus', ['get', 'http', 'status', 'gethttpstatus']],
    ['base64', ['base', '64', 'base64']],
    ['Über café', ['uber', 'cafe']],
    ['ＦＵＬＬ width', ['full', 'width']],
    ["the landlord's", ['the', 'landlord']],
    ['搜索关键词', ['搜索', '索关', '关键', '键词']],
    ['G102次列车', ['102', 'g102', '次列', '列车']],
    ['2025年报', ['2025', '年报']],
    ['', []],
    ['--- ... ///', []],
  ])('%s', (text, expected) => {
    expect(terms(text)).toEqual(expected.map(stem));
  });

  it('stops at the bound and ignores hashes and encoded data', () => {
    expect(termsOf('one two three four', 2)).toHaveLength(2);
    expect(terms('a'.repeat(41))).toEqual([]);
  });

  it('returns at most the bound for any text, and the same with cached words', () => {
    const known = new Map();
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const found = termsOf(text, most, known);
        expect(found.length).toBeLessThanOrEqual(most);
        expect(found).toEqual(termsOf(text, most));
      }),
    );
  });

  it('ignores case', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{2,12}$/), { minLength: 1, maxLength: 6 }), (words) => {
        expect(terms(words.join(' ').toUpperCase())).toEqual(terms(words.join('_')));
      }),
    );
  });
});

describe('stemming', () => {
  it.each([
    ['create', 'creates', 'created', 'creating', 'creation', 'creator'],
    ['convert', 'converts', 'converted', 'converting', 'converter'],
    ['generate', 'generates', 'generating', 'generation', 'generator'],
    ['install', 'installs', 'installing', 'installation'],
    ['deploy', 'deploys', 'deploying', 'deployment'],
    ['query', 'queries'],
    ['stop', 'stopped', 'stopping'],
    ['box', 'boxes'],
    ['calculate', 'calculation', 'calculator', 'calculating'],
    ['category', 'categories', 'categorize'],
    ['finance', 'financial'],
    ['activate', 'activity', 'activities'],
    ['interact', 'interactive'],
  ])('gives the forms of %s one stem', (...forms) => {
    expect(new Set(forms.map(stem)).size).toBe(1);
  });

  it.each([
    ['read', 'ready'],
    ['process', 'proceed'],
    ['status', 'state'],
    ['policy', 'police'],
  ])('gives %s another stem than other words', (word, ...others) => {
    for (const other of others) expect(stem(other)).not.toBe(stem(word));
  });

  it('does not change short words and other alphabets', () => {
    for (const word of ['is', 'was', 'ids', 'größe', '数据', 'k8s', '2024']) expect(stem(word)).toBe(word);
  });

  it('never returns an empty stem, and only shortens words, except for a final y', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,20}$/), (word) => {
        const root = stem(word);
        expect(root.length).toBeGreaterThan(0);
        expect(word.startsWith(root.replace(/y$/, ''))).toBe(true);
      }),
    );
  });
});
