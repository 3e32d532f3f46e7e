import { symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  changedLock,
  LOCK_FILE,
  MAX_LOCK_BYTES,
  parseLock,
  readLock,
} from '../../../../plugins/skills/lock/lock-file.ts';
import type { LockedSkill } from '../../../../plugins/skills/lock/locked-skill.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const HEX = 'a'.repeat(64);

const entry = (name: string, more: Partial<LockedSkill> = {}): LockedSkill => ({
  name,
  source: `registry.test/skills/${name}`,
  resolvedReference: `registry.test/skills/${name}@sha256:${HEX}`,
  digest: `sha256:${HEX}`,
  contentDigest: `sha256:${HEX}`,
  unsigned: true,
  explicit: true,
  ...more,
});

const parsed = (text: string) => {
  const read = parseLock(text, LOCK_FILE);
  if ('problem' in read) throw new Error(read.problem);
  return read;
};
const problemOf = (text: string): string | undefined => {
  const read = parseLock(text, LOCK_FILE);
  return 'problem' in read ? read.problem : undefined;
};
const change = (text: string, ...changes: readonly [string, LockedSkill | undefined][]) =>
  changedLock(parsed(text), new Map(changes));

const written = (...entries: readonly LockedSkill[]) =>
  changedLock(parsed(''), new Map(entries.map((given) => [given.name, given])));

describe('the lock file', () => {
  it('is written with sorted entries in a fixed order of members', () => {
    const text = written(entry('zeta', { version: '1.0' }), entry('alpha', { explicit: false, requiredBy: ['zeta'] }));
    expect(text).toBe(`version: 1
skills:
  - name: alpha
    source: registry.test/skills/alpha
    resolvedReference: registry.test/skills/alpha@sha256:${HEX}
    digest: sha256:${HEX}
    contentDigest: sha256:${HEX}
    unsigned: true
    explicit: false
    requiredBy:
      - zeta
  - name: zeta
    version: "1.0"
    source: registry.test/skills/zeta
    resolvedReference: registry.test/skills/zeta@sha256:${HEX}
    digest: sha256:${HEX}
    contentDigest: sha256:${HEX}
    unsigned: true
    explicit: true
`);
    expect(parsed(text).skills.map(({ name }) => name)).toEqual(['alpha', 'zeta']);
  });

  it('keeps comments and unknown members of the file and of entries', () => {
    const text = `# our skills
version: 1
future: { a: 1 } # kept
skills:
  # the formatter
  - name: beta
    source: registry.test/skills/beta # moves with the tag
    resolvedReference: registry.test/skills/beta@sha256:${HEX}
    digest: sha256:${HEX}
    contentDigest: sha256:${HEX}
    pinnedBy: ops
plugins:
  - name: other
`;
    const after = change(
      text,
      ['alpha', entry('alpha')],
      ['beta', { ...parsed(text).skills[0], version: '2' } as never],
    );
    for (const kept of [
      '# our skills',
      'future: { a: 1 } # kept',
      '# the formatter',
      '# moves with the tag',
      'pinnedBy: ops',
    ])
      expect(after).toContain(kept);
    expect(after).toContain('plugins:\n  - name: other');
    expect(parsed(after).skills).toMatchObject([{ name: 'alpha' }, { name: 'beta', version: '2', pinnedBy: 'ops' }]);
    const without = change(after, ['alpha', undefined]);
    expect(parsed(without).skills).toHaveLength(1);
    expect(without).toContain('# our skills');
  });

  it('removes members that an entry no longer has', () => {
    const signed = entry('alpha', { unsigned: undefined, provenance: { signerIdentity: 'a', certIssuer: 'b' } });
    const after = change(written(entry('alpha')), ['alpha', signed]);
    expect(after).not.toContain('unsigned');
    expect(parsed(after).skills[0]?.provenance).toEqual({ signerIdentity: 'a', certIssuer: 'b' });
  });

  it('does not change when an entry is written again', () => {
    const text = written(entry('alpha'), entry('beta'));
    expect(change(text, ['alpha', entry('alpha')])).toBe(text);
  });

  it.each([
    ['version: 2\nskills: []\n', 'has version 2, and this toolmgr reads version 1'],
    ['skills: []\n', 'has version none'],
    ['version: "1"\n', 'has version "1"'],
    ['- a\n', 'expected'],
    ['version: 1\nskills: [', 'is not YAML'],
    ['version: 1\nversion: 1\n', 'is not YAML'],
  ])('refuses %j', (text, why) => {
    expect(problemOf(text)).toContain(why);
  });

  const faulty = (more: Record<string, unknown>) =>
    JSON.stringify({ version: 1, skills: [{ ...entry('alpha'), ...more }] });

  it.each([
    [{ name: '../../escape' }, 'skills[0].name'],
    [{ name: 'Alpha' }, 'skills[0].name'],
    [{ digest: 'latest' }, 'skills[0].digest'],
    [{ contentDigest: HEX }, 'skills[0].contentDigest'],
    [{ source: 'a'.repeat(513) }, 'skills[0].source'],
    [{ source: 'a b' }, 'skills[0].source'],
    [{ resolvedReference: 'a\u0000b' }, 'skills[0].resolvedReference'],
    [{ provenance: {}, unsigned: true }, 'exclude each other'],
    [{ requiredBy: ['beta'] }, 'alpha is required by beta, which has no entry'],
    [{ requiredBy: ['alpha'] }, 'alpha is required by alpha'],
  ])('refuses an entry with %j', (more, why) => {
    expect(problemOf(faulty(more))).toContain(why);
  });

  it('refuses a circle and a duplicate', () => {
    const lock = (...skills: readonly LockedSkill[]) => JSON.stringify({ version: 1, skills });
    const circle = lock(
      entry('one', { requiredBy: ['two'] }),
      entry('two', { requiredBy: ['three'] }),
      entry('three', { requiredBy: ['one'] }),
    );
    expect(problemOf(circle)).toContain('one is required by two is required by three is required by one');
    expect(problemOf(lock(entry('one'), entry('one')))).toContain('one is a duplicate');
  });

  it('accepts a skill that many others require', () => {
    const many = Array.from({ length: 200 }, (_, n) => entry(`parent-${n}`));
    const shared = entry('shared', { requiredBy: many.map(({ name }) => name) });
    expect(parsed(written(...many, shared)).skills).toHaveLength(201);
  });
});

describe('a hostile lock file', () => {
  it('is refused when it has aliases', () => {
    const bomb = `version: 1\na: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nskills: *c\n`;
    expect(problemOf(bomb)).toContain('has an alias');
  });

  it('is refused when it is nested too deep or too large', async () => {
    const deep = `version: 1\nx: ${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(problemOf(deep)).toMatch(/nested too deep|is not YAML/);
    const root = temporaryFolder('lock');
    await writeFile(join(root, LOCK_FILE), 'version: 1\n');
    await truncate(join(root, LOCK_FILE), MAX_LOCK_BYTES + 1);
    expect(await readLock(root)).toEqual({ problem: expect.stringContaining('has more than') });
  });

  it('is not followed when it is a link', async () => {
    const [root, other] = [temporaryFolder('lock'), temporaryFolder('lock')];
    await writeFile(join(other, 'secret'), 'version: 1\n');
    await symlink(join(other, 'secret'), join(root, LOCK_FILE));
    expect(await readLock(root)).toEqual({ problem: expect.stringContaining('is a symbolic link') });
  });

  it('sets no members of prototypes', () => {
    const read = parsed(`version: 1\n__proto__: { polluted: 1 }\nskills: []\n`);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(read.skills).toEqual([]);
  });
});
