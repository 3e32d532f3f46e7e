import { describe, expect, it } from 'vitest';
import { pending } from './requirements/pending.ts';
import { requirements } from './requirements.ts';
import { coverageFaults } from './support/coverage.ts';
import { ledgerResult, resultLines, type TestReport } from './support/proven.ts';
import { readTree } from './support/tree.ts';

describe('the ledger', () => {
  it('agrees with the tests that cite it', () => {
    const sources = new Map([...readTree()].filter(([path]) => /^test\/.*\.test\.ts$/.test(path)));
    expect(coverageFaults({ ledger: requirements, sources, pending })).toEqual([]);
  });

  it('holds ids in kebab-case with dots, and no empty sentences', () => {
    const odd = requirements.filter(
      ({ id, says, source }) => !/^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/.test(id) || says.length < 10 || source === '',
    );
    expect(odd).toEqual([]);
  });

  it('holds no duplicate', () => {
    const lines = requirements.map(({ source, says }) => `${source}: ${says}`);
    expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
  });
});

describe('the check of a run', () => {
  const ledger = [{ id: 'a.one' }, { id: 'a.one-more' }, { id: 'a.later', deferred: 'comes with spring' }];
  const report = (...tests: readonly (readonly [string, string])[]): TestReport => ({
    testResults: [{ assertionResults: tests.map(([title, status]) => ({ title, status })) }],
  });

  it('counts the requirements that are not deferred and have a passed test', () => {
    const all = { total: 2, skipped: [], unproven: [] };
    expect(ledgerResult(ledger, report(['both [a.one, a.one-more]', 'passed']))).toEqual(all);
    expect(ledgerResult(ledger, report(['[a] one [a.one]', 'passed'], ['more [a.one-more]', 'passed']))).toEqual(all);
  });

  it('tells skipped proofs from failed and missing ones', () => {
    const partly = report(['one [a.one] (skipped: no Redis)', 'skipped'], ['more [a.one-more]', 'failed']);
    expect(ledgerResult(ledger, partly)).toEqual({ total: 2, skipped: ['a.one'], unproven: ['a.one-more'] });
    const untitled = report(['one [a.one-more]', 'passed'], ['a.one', 'passed']);
    expect(ledgerResult(ledger, untitled)).toEqual({ total: 2, skipped: [], unproven: ['a.one'] });
    expect(ledgerResult(ledger, report())).toEqual({ total: 2, skipped: [], unproven: ['a.one', 'a.one-more'] });
  });

  it('counts a requirement as proven when one of its proofs was skipped and another passed', () => {
    const named = report(['one [a.one] (skipped: no Redis)', 'skipped'], ['more [a.one, a.one-more]', 'passed']);
    expect(ledgerResult(ledger, named)).toEqual({ total: 2, skipped: [], unproven: [] });
  });
});

describe('the table of a run', () => {
  const skipped = (title: string, ...ancestorTitles: readonly string[]) => ({
    title,
    ancestorTitles,
    status: 'skipped',
  });
  const assertionResults = [
    { title: 'one [a.one]', status: 'passed' },
    skipped('two [a.two] (skipped: no redis-server on this machine (Debian: apt-get install redis-server))'),
    skipped(
      'more',
      'stores in Redis (skipped: no redis-server on this machine (Debian: apt-get install redis-server))',
    ),
    skipped('three [a.three]', 'The image, skipped: no kube rig, npm run rigs kube', 'in a pod'),
    skipped('a lost connection'),
  ];

  it('has what was tried, then what was not, by what is missing, with the command that installs it', () => {
    const ledger = ['a.one', 'a.two', 'a.three'].map((id) => ({ id }));
    expect(resultLines(ledger, { testResults: [{ assertionResults }] })).toEqual([
      '                                                   tests  requirements  to try them too',
      'proven here                                            1             1',
      'not tried: no redis-server                             2             1  apt-get install redis-server',
      'not tried: no kube rig                                 1             1  npm run rigs kube',
      'not tried: does not apply here, or says no reason      1             0',
      '1 of 3 requirements proven by this run, 2 not proven here (skipped)',
    ]);
  });
});

describe('the coverage check can fail', () => {
  const ledger = [{ id: 'a.one' }, { id: 'a.two' }, { id: 'a.later', deferred: 'comes with spring' }];
  const faults = (text: string, pendingIds: readonly string[] = []) =>
    coverageFaults({ ledger, sources: new Map([['test/a.test.ts', text]]), pending: pendingIds });

  it('accepts a ledger whose lines are all cited, deferred or pending', () => {
    expect(faults(`proves(['a.one', "a.two"], 'both', () => {});`)).toEqual([]);
    expect(faults(`proves.skipIf(isCold(), 'cold')('a.one', 'one', () => {});`, ['a.two'])).toEqual([]);
    expect(faults(`const rows = [['a.one'], ['a.two']]; for (const [id] of rows) proves(id, 'row', f);`)).toEqual([]);
  });

  it('names a line that no test cites', () => {
    expect(faults(`proves('a.one', 'one', f);`)).toEqual(['a.two is neither cited nor deferred']);
    expect(faults(`// proves('a.one')\nit('a.two', f);`)).toEqual([
      'a.one is neither cited nor deferred',
      'a.two is neither cited nor deferred',
    ]);
  });

  it('does not count a string outside `proves` as a citation', () => {
    expect(faults(`proves('a.one', 'one', f); const keys = ['a.two'];`)).toEqual([
      'a.two is neither cited nor deferred',
    ]);
  });

  it('names an unknown citation', () => {
    expect(faults(`proves(['a.one', 'a.two', 'a.tree'], 'three', f);`)).toEqual([
      'test/a.test.ts cites a.tree, which is unknown',
    ]);
  });

  it('names a stale deferral', () => {
    expect(faults(`proves(['a.one', 'a.two', 'a.later'], 'all', f);`)).toEqual([
      'a.later is cited, but deferred: comes with spring',
    ]);
  });

  it('names stale entries of pending', () => {
    expect(faults(`proves('a.one', 'one', f);`, ['a.one', 'a.two', 'a.two', 'a.gone', 'a.later'])).toEqual([
      'a.two is a duplicate in pending',
      'a.one is cited and must leave pending',
      'a.gone is pending, but unknown',
      'a.later is pending and deferred',
    ]);
  });

  it('names a duplicate id', () => {
    const twice = [{ id: 'a.one' }, { id: 'a.one' }];
    const sources = new Map([['test/a.test.ts', `proves('a.one', 'one', f);`]]);
    expect(coverageFaults({ ledger: twice, sources, pending: [] })).toEqual(['a.one is a duplicate in the ledger']);
  });
});
