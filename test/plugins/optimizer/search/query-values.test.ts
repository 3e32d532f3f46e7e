import { describe, expect, it } from 'vitest';
import { extractValues } from '../../../../plugins/optimizer/search/query-values.ts';
import { cpuClock } from '../../../support/cpu-clock.ts';

const valuesIn = (text: string): string => extractValues(text)[1];

describe('separating the values of a query', () => {
  it.each([
    ['send "hello world" to bob@example.org', '"hello world" bob@example.org'],
    ['fetch https://example.org/a?b=c now', 'https://example.org/a?b=c'],
    ['read /var/log/app/error.log please', '/var/log/app/error.log'],
    ['open report-2026.pdf and notes.txt', 'report-2026.pdf notes.txt'],
    ['on 2026-05-12 at 14:00', '2026-05-12 14:00'],
    ['trace 4bf92f3577b34da6a3ce929d0e0e4736', '4bf92f3577b34da6a3ce929d0e0e4736'],
    ['order #100234 with 1Z999AA10123456784', '#100234 1Z999AA10123456784'],
    ['say “guten Tag” or «salut» or `ls -l`', '“guten Tag” «salut» `ls -l`'],
    ["call it 'my list'", "'my list'"],
  ])('%s', (text, values) => {
    expect(valuesIn(text)).toBe(values);
  });

  it.each([
    "what is in the landlord's mail and in mine",
    'list the open pull requests of a repository',
    'search and replace, then save',
    'Find it. Then tell me.',
    '查询天气预报',
  ])('keeps other texts: %s', (text) => {
    expect(extractValues(text)).toEqual([text, '']);
  });

  it.each([
    '"'.repeat(4_000),
    'a/'.repeat(2_000),
    'a.'.repeat(2_000),
    '1a-'.repeat(1_300),
    'a@'.repeat(2_000),
    '://'.repeat(1_300),
  ])('takes no longer for a hostile text: %.6s', (text) => {
    const usedMs = cpuClock();
    for (let at = 0; at < 20; at += 1) extractValues(text);
    expect(usedMs() / 20).toBeLessThan(50);
  });
});
