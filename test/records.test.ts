import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Age, outdated } from './support/outdated.ts';

const ROOT = join(import.meta.dirname, '..');
const PRODUCT = ['core', 'plugins', 'hosts'];

/** Measured records: what they are about, and the command that makes them anew. Dates are in the records. */
const RECORDS = {
  'docs/project/benchmarks-gateways.json': { of: PRODUCT, renew: 'npm run bench -- --peer all' },
  'docs/project/benchmarks-ratio.json': { of: PRODUCT, renew: 'npm run bench:ratio -- --record' },
  'docs/project/benchmarks.json': { of: PRODUCT, renew: 'npm run bench' },
  'docs/project/conformance.json': {
    of: PRODUCT,
    renew: 'node --conditions=development test/conformance/run.ts --write',
  },
  'docs/project/mutation.json': { of: PRODUCT, renew: 'npm run proof' },
  'docs/project/retrieval.json': { of: ['plugins/optimizer'], renew: 'npm run bench:retrieval' },
  'docs/project/test-times.json': { of: [...PRODUCT, 'test'], renew: 'npm test -- --record' },
  'README.md': { of: [...PRODUCT, 'test'], renew: 'npm test' },
} as const;

it('every record of docs/project is known here', () => {
  const files = readdirSync(join(ROOT, 'docs/project')).filter((name) => name.endsWith('.json'));
  expect(Object.keys(RECORDS).filter((path) => path !== 'README.md')).toEqual(
    files.map((name) => `docs/project/${name}`),
  );
});

it('every record has a date, and the code it is about is at most 30 days newer', () => {
  const ages = Object.entries(RECORDS).map(([path, { of, renew }]) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const recorded = path.endsWith('.json')
      ? JSON.parse(text).date
      : /was printed on (\d{4}-\d\d-\d\d):/.exec(text)?.[1];
    return { path, renew, recorded, changed: changedOn(of) } satisfies Age;
  });
  expect(outdated(ages)).toEqual([]);
});

it('a record without a date and one that is too old are found', () => {
  const age = { renew: 'npm run bench', changed: '2026-11-01T10:00:00+01:00' };
  expect(
    outdated([
      { ...age, path: 'a.json', recorded: undefined },
      { ...age, path: 'b.json', recorded: 'yesterday' },
      { ...age, path: 'c.json', recorded: '2026-10-02' },
      { ...age, path: 'd.json', recorded: '2026-10-01' },
      { ...age, path: 'e.json', recorded: '2026-12-24T08:00:00.000Z' },
    ]),
  ).toEqual([
    'a.json has no date: npm run bench',
    'b.json has no date: npm run bench',
    'd.json is 31 days older than the code it is about: npm run bench',
  ]);
});

/** Time of the newest commit of these folders. */
function changedOn(folders: readonly string[]): string {
  return execFileSync('git', ['log', '-1', '--format=%cI', '--', ...folders], { cwd: ROOT, encoding: 'utf8' }).trim();
}
