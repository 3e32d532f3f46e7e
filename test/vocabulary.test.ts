import { describe, expect, it } from 'vitest';
import { readTree } from './support/tree.ts';
import { unusedAllowances, vocabularyFaults } from './support/vocabulary.ts';

describe('the vocabulary of the repository', () => {
  it('has no private words in names, comments, messages, test names and pages', () => {
    expect(vocabularyFaults(readTree())).toEqual([]);
  });

  it('has an allow-list without unused entries', () => {
    expect(unusedAllowances(readTree())).toEqual([]);
  });
});

const faults = (files: Record<string, string>) => vocabularyFaults(new Map(Object.entries(files)));
const SUBJECT = 'write the subject: no client, no caller, no plugin, …';

describe('the vocabulary check', () => {
  it('reports an identifier by its camel-case parts', () => {
    expect(
      faults({ 'core/pipeline/a.ts': 'const a = 1;\nexport class BackendRoom {}\nconst RUNG_COUNT = openDesk();' }),
    ).toEqual([
      "core/pipeline/a.ts:2: 'room', write pipeline, stage or backend manager",
      "core/pipeline/a.ts:3: 'desk', write protocol router",
      "core/pipeline/a.ts:3: 'rung', write checks",
    ]);
  });

  it('reports a comment, a message and a test name', () => {
    expect(
      faults({
        'plugins/audit/a.ts': "// a line that nobody reads\nthrow new Error('the sink cannot be had');",
        'test/plugins/audit/a.test.ts': "it('goes on after a fault', f);",
      }),
    ).toEqual([
      `plugins/audit/a.ts:1: 'nobody', ${SUBJECT}`,
      "plugins/audit/a.ts:2: 'cannot be had', write is unavailable or is available",
      "test/plugins/audit/a.test.ts:1: 'goes on', write continues",
    ]);
  });

  it('reports a line of a page', () => {
    const page = '# Limits\n\nA second caller is let in, and every name stands twice.';
    expect(faults({ 'docs/limits.md': page, 'README.md': 'Nobody\u2019s port' })).toEqual([
      "docs/limits.md:3: 'stands twice', write is a duplicate",
      "docs/limits.md:3: 'let in', write accepts",
      `README.md:1: 'nobody', ${SUBJECT}`,
    ]);
  });

  it('reports names of files and folders', () => {
    expect(faults({ 'core/server/node-door.ts': '', 'hosts/house/a.ts': '' })).toEqual([
      "core/server/node-door.ts: 'door', write adapter, path, authenticator or gateway switch",
      "hosts/house/a.ts: 'house', write gateway",
    ]);
  });

  it('accepts longer words, plain English and files that are data', () => {
    expect(
      faults({
        'core/a.ts': 'const bedroom = doorstep; // makes room for one more, no room left, lets calls in flight end',
        'test/bench/retrieval-set/tools.txt': 'opens the door',
        'package-lock.json': '"node_modules/door"',
      }),
    ).toEqual([]);
  });
});
