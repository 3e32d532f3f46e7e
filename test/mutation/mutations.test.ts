import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requirements } from '../requirements.ts';
import { mutations } from './mutations.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the mutations of `npm run proof`', () => {
  it('replace text that occurs exactly once in its file', () => {
    const odd = mutations.filter(({ file, from }) => readFileSync(join(ROOT, file), 'utf8').split(from).length !== 2);
    expect(odd).toEqual([]);
  });

  it('change something', () => {
    expect(mutations.filter(({ from, to }) => from === to)).toEqual([]);
  });

  it('belong to proven requirements', () => {
    const proven = new Set(requirements.flatMap(({ id, deferred }) => (deferred === undefined ? [id] : [])));
    expect(mutations.filter(({ id }) => !proven.has(id))).toEqual([]);
  });

  it('are listed once', () => {
    const keys = mutations.map(({ id, file, from, to }) => JSON.stringify([id, file, from, to]));
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });
});
