import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { problem } from '@toolmgr/plugins/kit/operations';
import { describe, expect, it } from 'vitest';
import { hasDrift } from '../../../../hosts/cli/skills/lock-commands.ts';
import { type InstallRequest, installSkill } from '../../../../plugins/skills/install/install.ts';
import { listSkills } from '../../../../plugins/skills/install/installed-skill.ts';
import { type SyncRequest, syncSkills } from '../../../../plugins/skills/install/sync.ts';
import {
  isPinned,
  repositoryOf,
  type UpgradeRequest,
  upgradeSkills,
} from '../../../../plugins/skills/install/upgrade.ts';
import { type SkillRig, signal, skillRig } from './skill-rig.ts';

const REF = 'registry.test/skills/format:1';
const LOCK = 'toolmgr.lock.yaml';

async function install(rig: SkillRig, more: Partial<InstallRequest> = {}) {
  const scope = { scope: 'project', root: rig.root } as const;
  const done = await installSkill(rig.deps, { name: REF, scope, allowUnsigned: true, ...more }, signal);
  if ('problem' in done) throw new Error(done.detail);
  return done;
}

async function sync(rig: SkillRig, more: Partial<SyncRequest> = {}) {
  const result = await syncSkills(rig.deps, { root: rig.root, ...more }, signal);
  if ('problem' in result) throw new Error(result.detail);
  // only what is not empty
  return Object.fromEntries(Object.entries(result).filter(([, names]) => names.length > 0));
}

async function upgrade(rig: SkillRig, more: Partial<UpgradeRequest> = {}) {
  const result = await upgradeSkills(rig.deps, { root: rig.root, ...more }, signal);
  if ('problem' in result) throw new Error(result.detail);
  return result.outcomes;
}

/** As a fresh clone: the lock file without the folders and records. */
async function clone(rig: SkillRig): Promise<void> {
  for (const folder of ['.alpha', '.agents']) await rm(join(rig.root, folder), { recursive: true, force: true });
  await rm(join(rig.state, 'skills'), { recursive: true, force: true });
}

const lockText = ({ root }: SkillRig) => readFile(join(root, LOCK), 'utf8');
const skillFile = (rig: SkillRig) => join(rig.root, '.alpha/skills/format/SKILL.md');

describe('a sync', () => {
  it('installs what a fresh clone lacks, at the pinned version, with what it needs', async () => {
    const rig = await skillRig();
    rig.publish('registry.test/skills/low:1', { name: 'low' });
    rig.publish(REF, { name: 'format', requires: ['registry.test/skills/low:1'] });
    await install(rig);
    const [lock, files, before] = [await lockText(rig), await rig.read(rig.root), await listSkills(rig.state)];
    await clone(rig);
    rig.publish(REF, { name: 'format', text: 'newer' });
    expect(await sync(rig, { check: true })).toEqual({ missing: ['format', 'low'] });
    expect(await rig.read(rig.root)).toEqual({ [LOCK]: lock });
    expect(await sync(rig)).toEqual({ installed: ['format', 'low'] });
    expect(await rig.read(rig.root)).toEqual(files);
    const shapes = (skills: typeof before) => skills.map(({ metadata, dependencies }) => ({ metadata, dependencies }));
    expect(shapes(await listSkills(rig.state))).toEqual(shapes(before));
    expect(await sync(rig)).toEqual({ already_current: ['format', 'low'] });
  });

  it('restores edited files, and a check only reports them', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig);
    await writeFile(skillFile(rig), 'edited');
    await writeFile(join(rig.root, '.alpha/skills/format/more.md'), 'more');
    const checked = await sync(rig, { check: true });
    expect(checked).toEqual({ drifted: ['format'] });
    expect(hasDrift({ ...checked, missing: [], removed_from_lock: [], failed: [] } as never)).toBe(true);
    expect(await readFile(skillFile(rig), 'utf8')).toBe('edited');
    expect(await sync(rig)).toEqual({ drifted: ['format'] });
    expect(await rig.read(join(rig.root, '.alpha'))).toEqual({ 'skills/format/SKILL.md': '# format' });
  });

  it('adds named clients', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig, { clients: ['alpha'] });
    expect(await sync(rig)).toEqual({ already_current: ['format'] });
    expect(await sync(rig, { clients: ['beta'] })).toEqual({ drifted: ['format'] });
    expect((await listSkills(rig.state))[0]?.clients).toEqual(['alpha', 'beta']);
  });

  it('uninstalls what left the lock file only with prune', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig);
    await writeFile(join(rig.root, LOCK), 'version: 1\nskills: []\n');
    expect(await sync(rig)).toEqual({ removed_from_lock: ['format'] });
    expect(await sync(rig, { prune: true, check: true })).toEqual({ removed_from_lock: ['format'] });
    expect(await sync(rig, { prune: true })).toEqual({ removed_from_lock: ['format'], pruned: ['format'] });
    expect(Object.keys(await rig.read(rig.root))).toEqual([LOCK]);
  });

  it('adopts the skills of a project that has no lock file, and prunes none of them', async () => {
    const rig = await skillRig();
    rig.publish('registry.test/skills/low:1', { name: 'low' });
    rig.publish(REF, { name: 'format', requires: ['registry.test/skills/low:1'] });
    await install(rig);
    const text = await lockText(rig);
    await rm(join(rig.root, LOCK));
    expect(await sync(rig, { prune: true })).toEqual({ never_managed: ['format', 'low'] });
    expect(await sync(rig, { adopt: true })).toEqual({ never_managed: ['format', 'low'] });
    expect(await lockText(rig)).toBe(text);
  });

  it('reports each failure with its reason and continues with the others', async () => {
    const rig = await skillRig();
    const names = ['gone', 'limited', 'other', 'signed', 'valid'];
    for (const name of names) {
      rig.publish(`registry.test/skills/${name}:1`, { name }, name === 'signed' ? 'ann@test' : undefined);
      await install(rig, { name: `registry.test/skills/${name}:1` });
    }
    const pins = Object.fromEntries((await listSkills(rig.state)).map((one) => [one.metadata.name, one.reference]));
    await clone(rig);
    rig.published.delete(pins.gone ?? '');
    rig.published.set(pins.limited ?? '', problem('upstream_rate_limited', 'too many'));
    rig.published.set(pins.other ?? '', rig.publish('registry.test/x/other:1', { name: 'other', text: 'swapped' }));
    rig.signers.clear();
    expect(await sync(rig)).toEqual({
      installed: ['valid'],
      failed: [
        { name: 'gone', error: expect.any(String), reason: 'digest-missing' },
        { name: 'limited', error: 'too many', reason: 'registry-unreachable' },
        { name: 'other', error: expect.stringContaining('has the digest'), reason: 'validation-rejected' },
        { name: 'signed', error: expect.stringContaining('has no signature'), reason: 'unsigned-rejected' },
      ],
    });
  });

  it('trusts the first signer of an entry without one, and accepts unsigned ones only when allowed', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' }, 'ann@test');
    await install(rig);
    const bare = (await lockText(rig)).replace(/ {4}provenance:\n( {6}.*\n)+/, '');
    await clone(rig);
    await writeFile(join(rig.root, LOCK), bare);
    expect(await sync(rig)).toEqual({ installed: ['format'] });
    expect(await lockText(rig)).toContain('signerIdentity: ann@test');
    await clone(rig);
    await writeFile(join(rig.root, LOCK), bare);
    rig.signers.clear();
    expect(await sync(rig)).toMatchObject({ failed: [{ reason: 'unsigned-rejected' }] });
    expect(await sync(rig, { allowUnsigned: true })).toEqual({ installed: ['format'] });
    expect(await lockText(rig)).toContain('unsigned: true');
  });

  it('refuses a lock file with a fault and an unknown client', async () => {
    const rig = await skillRig();
    expect(await syncSkills(rig.deps, { root: rig.root, clients: ['none'] }, signal)).toMatchObject({
      problem: 'bad_request',
    });
    await writeFile(join(rig.root, LOCK), 'version: 1\nskills: [{ name: ../x }]\n');
    expect(await syncSkills(rig.deps, { root: rig.root }, signal)).toMatchObject({ problem: 'bad_request' });
  });

  it('says that the lock file cannot be written', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' }, 'ann@test');
    await install(rig);
    const bare = (await lockText(rig)).replace(/ {4}provenance:\n( {6}.*\n)+/, '');
    await clone(rig);
    await writeFile(join(rig.root, LOCK), bare);
    const deps = {
      ...rig.deps,
      async verify() {
        // an editor that has the file open in the same moment
        await writeFile(join(rig.root, LOCK), bare.replace('explicit: true', 'explicit: true\n    note: mine'));
        return rig.deps.verify(rig.published.get(REF) as never, signal);
      },
    };
    const result = await syncSkills(deps, { root: rig.root }, signal);
    expect(result).toMatchObject({ installed: ['format'] });
    expect(await lockText(rig)).toContain('note: mine');
  });
});

describe('an upgrade', () => {
  it('installs what the source has now, and keeps comments of the lock file', async () => {
    const rig = await skillRig();
    const old = rig.publish(REF, { name: 'format' });
    await install(rig);
    await writeFile(join(rig.root, LOCK), `# ours\n${await lockText(rig)}`);
    expect(await upgrade(rig)).toEqual([{ name: 'format', old_digest: old.digest, status: 'up-to-date' }]);
    const next = rig.publish(REF, { name: 'format', text: 'newer' });
    const outcome = {
      name: 'format',
      status: 'upgraded',
      old_digest: old.digest,
      new_digest: next.digest,
      new_resolved_reference: next.resolvedReference,
    };
    expect(await upgrade(rig, { preview: true })).toEqual([outcome]);
    expect(await upgrade(rig, { failOnChanges: true })).toEqual([outcome]);
    expect(await readFile(skillFile(rig), 'utf8')).toBe('# format');
    expect(await upgrade(rig, { names: ['format'] })).toEqual([outcome]);
    expect(await readFile(skillFile(rig), 'utf8')).toBe('newer');
    expect(await lockText(rig)).toMatch(/^# ours\n/);
    expect(await lockText(rig)).toContain(next.digest);
    expect(await sync(rig)).toEqual({ already_current: ['format'] });
  });

  it('leaves pinned sources, and says why others fail', async () => {
    const rig = await skillRig();
    const pinned = rig.publish('registry.test/skills/pinned:1', { name: 'pinned' });
    await install(rig, { name: pinned.resolvedReference });
    rig.publish(REF, { name: 'format' });
    await install(rig);
    rig.published.set(REF, problem('upstream_failed', 'it is down'));
    expect(await upgrade(rig)).toEqual([
      expect.objectContaining({
        name: 'format',
        status: 'failed',
        error: 'it is down',
        reason: 'registry-unreachable',
      }),
      expect.objectContaining({ name: 'pinned', status: 'not-upgradable' }),
    ]);
  });

  it('refuses another repository and another signer unless they are allowed', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' }, 'ann@test');
    await install(rig);
    const moved = rig.publish('evil.test/skills/format:1', { name: 'format', text: 'evil' }, 'eve@test');
    rig.published.set(REF, { ...moved, source: REF });
    expect(await upgrade(rig)).toMatchObject([{ status: 'ref-change-blocked', new_digest: moved.digest }]);
    const refused = { status: 'signer-change-blocked', new_signer_identity: 'eve@test', reason: 'signer-mismatch' };
    expect(await upgrade(rig, { allowRefChange: true })).toMatchObject([refused]);
    expect(await readFile(skillFile(rig), 'utf8')).toBe('# format');
    expect(await upgrade(rig, { allowRefChange: true, allowSignerChange: true })).toMatchObject([
      { status: 'upgraded', new_signer_identity: 'eve@test' },
    ]);
    expect(await lockText(rig)).toContain('signerIdentity: eve@test');
    rig.publish(REF, { name: 'format', text: 'unsigned' });
    expect(await upgrade(rig, { allowRefChange: true })).toMatchObject([
      { status: 'signer-change-blocked', reason: 'unsigned-rejected' },
    ]);
    const bad = rig.publish(REF, { name: 'format', text: 'bad' });
    rig.signers.set(bad.digest, { kind: 'invalid', reason: 'forged' });
    expect(await upgrade(rig, { allowRefChange: true, allowSignerChange: true })).toMatchObject([
      { status: 'failed', reason: 'signature-invalid' },
    ]);
  });

  it('brings what a new version needs, not explicit, and keeps what the user asked for', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig);
    rig.publish('registry.test/skills/low:1', { name: 'low' }, 'ann@test');
    rig.publish(REF, { name: 'format', text: 'two', requires: ['registry.test/skills/low:1'] });
    expect(await upgrade(rig)).toMatchObject([{ status: 'upgraded' }]);
    expect(await lockText(rig)).toMatch(/name: low[\s\S]*explicit: false\n {4}requiredBy:\n {6}- format/);
  });

  it('refuses names that the lock file does not have', async () => {
    const rig = await skillRig();
    expect(await upgradeSkills(rig.deps, { root: rig.root, names: ['none'] }, signal)).toMatchObject({
      problem: 'not_found',
    });
  });

  it.each([
    ['ghcr.io/a/b:1', 'ghcr.io/a/b', false],
    ['localhost:5000/a/b', 'localhost:5000/a/b', false],
    [`ghcr.io/a/b:1@sha256:${'0'.repeat(64)}`, 'ghcr.io/a/b', true],
    ['git://github.com/a/b@v1#c', 'git://github.com/a/b#c', false],
    [`git://github.com/a/b@${'0'.repeat(40)}#c`, 'git://github.com/a/b#c', true],
    ['plain', 'plain', false],
  ])('reads %s', (reference, repository, pinned) => {
    expect([repositoryOf(reference), isPinned(reference)]).toEqual([repository, pinned]);
  });
});

describe('a repository that holds its skills too', () => {
  it('is current after a clone, and a sync only records it', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig);
    const files = await rig.read(rig.root);
    await rm(join(rig.state, 'skills'), { recursive: true, force: true });
    expect(await sync(rig, { check: true })).toEqual({ already_current: ['format'] });
    expect(await listSkills(rig.state)).toEqual([]);
    expect(await sync(rig)).toEqual({ installed: ['format'] });
    expect(await rig.read(rig.root)).toEqual(files);
    expect(await sync(rig)).toEqual({ already_current: ['format'] });
  });
});
