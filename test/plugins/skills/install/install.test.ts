import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changeGroup, createGroup, readGroup } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { type InstallRequest, installSkill } from '../../../../plugins/skills/install/install.ts';
import { listSkills, skillDetails } from '../../../../plugins/skills/install/installed-skill.ts';
import { uninstallSkill } from '../../../../plugins/skills/install/uninstall.ts';
import { readLock } from '../../../../plugins/skills/lock/lock-file.ts';
import { type SkillRig, signal, signedBy, skillRig } from './skill-rig.ts';

const REF = 'registry.test/skills/format:1';

const user = (more: Partial<InstallRequest> = {}): InstallRequest => ({ name: REF, scope: { scope: 'user' }, ...more });
const project = ({ root }: SkillRig, more: Partial<InstallRequest> = {}): InstallRequest => ({
  name: REF,
  scope: { scope: 'project', root },
  allowUnsigned: true,
  ...more,
});

async function install(rig: SkillRig, request: InstallRequest) {
  const done = await installSkill(rig.deps, request, signal);
  if ('problem' in done) throw new Error(`${done.problem}: ${done.detail}`);
  return done;
}
const refusal = async (rig: SkillRig, request: InstallRequest) => {
  const done = await installSkill(rig.deps, request, signal);
  return 'problem' in done ? { problem: done.problem, detail: done.detail } : undefined;
};
const entries = async (root: string) => {
  const lock = await readLock(root);
  if ('problem' in lock) throw new Error(lock.problem);
  return lock.skills;
};

describe('installing a skill', () => {
  it('makes no folder for a skill that does not exist', async () => {
    const rig = await skillRig();
    expect(await refusal(rig, user({ name: 'registry.test/skills/nothing:1' }))).toMatchObject({
      problem: 'not_found',
    });
    expect(await readdir(rig.home)).toEqual([]);
  });

  it('writes it for each detected client, and a shared folder once', async () => {
    const rig = await skillRig();
    const artifact = rig.publish(REF, {
      name: 'format',
      version: '1.0',
      metadata: { author: 'Ann', tags: 'code, style' },
      files: { 'scripts/run.sh': 'true' },
    });
    const { record } = await install(rig, user());
    expect(await rig.read(rig.home)).toEqual({
      '.agents/skills/format/SKILL.md': '# format',
      '.agents/skills/format/scripts/run.sh': 'true',
      '.alpha/skills/format/SKILL.md': '# format',
      '.alpha/skills/format/scripts/run.sh': 'true',
    });
    expect(record.clients).toEqual(['alpha', 'beta', 'gamma']);
    expect(await listSkills(rig.state)).toEqual([
      {
        clients: ['alpha', 'beta', 'gamma'],
        dependencies: [],
        digest: artifact.digest,
        installed_at: expect.stringMatching(/^\d{4}-.*Z$/),
        managed: false,
        metadata: {
          author: 'Ann',
          description: 'about format',
          name: 'format',
          tags: ['code', 'style'],
          version: '1.0',
        },
        reference: artifact.resolvedReference,
        scope: 'user',
        status: 'installed',
        tag: '1',
        group: 'default',
      },
    ]);
    expect((await readGroup(rig.state, 'default'))?.skills).toEqual(['format']);
  });

  it('gives folders 0750 and files at most 0644, and records to the owner only', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig, user());
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect(await modeOf(join(rig.home, '.alpha/skills/format'))).toBe('750');
    expect(await modeOf(join(rig.home, '.alpha/skills/format/SKILL.md'))).toBe('644');
    expect(await modeOf(join(rig.state, 'skills/installed/user-format.json'))).toBe('600');
  });

  it('writes nothing when it is installed again', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    const first = await install(rig, user());
    const before = await rig.read(rig.base);
    const second = await install(rig, user());
    expect(second).toEqual({ record: first.record, changed: [] });
    expect(await rig.read(rig.base)).toEqual(before);
  });

  it('adds clients and keeps the earlier ones', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig, user({ clients: ['alpha'] }));
    expect(Object.keys(await rig.read(rig.home))).toEqual(['.alpha/skills/format/SKILL.md']);
    const { record } = await install(rig, user({ clients: ['absent'] }));
    expect(record.clients).toEqual(['absent', 'alpha']);
    expect(Object.keys(await rig.read(rig.home))).toEqual([
      '.absent/skills/format/SKILL.md',
      '.alpha/skills/format/SKILL.md',
    ]);
  });

  it('replaces another version as a whole', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format', files: { 'old.txt': 'old' } });
    await install(rig, user({ clients: ['alpha'] }));
    rig.publish(REF, { name: 'format', text: 'newer', files: { 'new.txt': 'new' } });
    await install(rig, user({ clients: ['all'] }));
    expect(await rig.read(join(rig.home, '.alpha'))).toEqual({
      'skills/format/SKILL.md': 'newer',
      'skills/format/new.txt': 'new',
    });
    expect(await readdir(join(rig.home, '.alpha/skills'))).toEqual(['format']);
  });

  it('restores a folder that was edited', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await install(rig, user({ clients: ['alpha'] }));
    await writeFile(join(rig.home, '.alpha/skills/format/SKILL.md'), 'edited');
    await install(rig, user({ clients: ['alpha'] }));
    expect(await rig.read(join(rig.home, '.alpha/skills'))).toEqual({ 'format/SKILL.md': '# format' });
  });

  it('refuses a folder that it does not manage, unless forced, and then leaves nothing of it', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await mkdir(join(rig.home, '.alpha/skills/format'), { recursive: true });
    await writeFile(join(rig.home, '.alpha/skills/format/mine.md'), 'mine');
    const before = await rig.read(rig.home);
    expect(await refusal(rig, user())).toMatchObject({ problem: 'conflict', detail: expect.stringContaining('force') });
    expect(await rig.read(rig.home)).toEqual(before);
    await install(rig, user({ force: true }));
    expect(await rig.read(join(rig.home, '.alpha/skills'))).toEqual({ 'format/SKILL.md': '# format' });
  });

  it.each([
    [{ clients: ['none'] }, 'there is no client "none"'],
    [{ clients: ['alpa'] }, 'did you mean alpha?'],
    [{ clients: ['plain'] }, 'the client plain takes no skills'],
    [{ clients: ['all', 'alpha'] }, 'exclude each other'],
  ])('refuses %j', async (more, why) => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    expect(await refusal(rig, user(more))).toEqual({ problem: 'bad_request', detail: expect.stringContaining(why) });
  });

  it('refuses an unknown group and an unknown skill', async () => {
    const rig = await skillRig();
    expect(await refusal(rig, user({ group: 'none' }))).toMatchObject({ problem: 'not_found' });
    expect(await refusal(rig, user())).toMatchObject({ problem: 'not_found' });
    expect(await rig.read(rig.home)).toEqual({});
  });

  it('moves a skill to another group', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await createGroup(rig.state, 'team');
    await changeGroup(rig.state, 'team', () => ({ skills: ['other'] }));
    await install(rig, user());
    await install(rig, user({ group: 'team' }));
    expect((await readGroup(rig.state, 'team'))?.skills).toEqual(['format', 'other']);
    expect((await readGroup(rig.state, 'default'))?.skills).toEqual([]);
    expect(await listSkills(rig.state, { group: 'default' })).toEqual([]);
    expect(await listSkills(rig.state, { group: 'team', client: 'alpha', scope: 'user' })).toHaveLength(1);
    expect(await listSkills(rig.state, { group: 'team', client: 'other' })).toEqual([]);
  });
});

describe('a skill that needs others', () => {
  const publishTree = (rig: SkillRig) => {
    rig.publish('registry.test/skills/low:1', { name: 'low' });
    rig.publish('registry.test/skills/mid:1', { name: 'mid', requires: ['registry.test/skills/low:1'] });
    rig.publish(REF, {
      name: 'format',
      requires: ['registry.test/skills/mid:1', 'registry.test/skills/low:1'],
    });
  };

  it('brings them, not explicit, and takes them along when it is uninstalled', async () => {
    const rig = await skillRig();
    publishTree(rig);
    const { record } = await install(rig, project(rig));
    expect(record.dependencies.map(({ name }) => name)).toEqual(['mid', 'low']);
    expect(await entries(rig.root)).toMatchObject([
      { name: 'format', explicit: true },
      { name: 'low', explicit: false, requiredBy: ['format', 'mid'] },
      { name: 'mid', explicit: false, requiredBy: ['format'] },
    ]);
    expect((await listSkills(rig.state)).map(({ metadata }) => metadata.name)).toEqual(['format', 'low', 'mid']);
    expect(await uninstallSkill(rig.deps, 'mid', { scope: 'project', root: rig.root })).toMatchObject({
      problem: 'bad_request',
      detail: expect.stringContaining('mid is needed by format'),
    });
    expect(await uninstallSkill(rig.deps, 'format', { scope: 'project', root: rig.root })).toEqual({
      removed: ['format', 'low', 'mid'],
    });
    expect(await entries(rig.root)).toEqual([]);
    expect(await listSkills(rig.state)).toEqual([]);
    expect((await readGroup(rig.state, 'default'))?.skills).toEqual([]);
    expect(Object.keys(await rig.read(rig.root))).toEqual(['toolmgr.lock.yaml']);
  });

  it('leaves what the user asked for', async () => {
    const rig = await skillRig();
    publishTree(rig);
    await install(rig, user({ name: 'registry.test/skills/low:1' }));
    await install(rig, user());
    expect(await uninstallSkill(rig.deps, 'format', { scope: 'user' })).toEqual({ removed: ['format', 'mid'] });
    expect((await listSkills(rig.state)).map(({ metadata }) => metadata.name)).toEqual(['low']);
  });

  it('loses those that its next version does not need', async () => {
    const rig = await skillRig();
    publishTree(rig);
    await install(rig, project(rig));
    rig.publish(REF, { name: 'format', text: 'alone' });
    await install(rig, project(rig));
    expect((await entries(rig.root)).map(({ name }) => name)).toEqual(['format']);
    expect(Object.keys(await rig.read(join(rig.root, '.alpha')))).toEqual(['skills/format/SKILL.md']);
  });

  it('is refused when the skills need each other, when one is missing, and when there are too many', async () => {
    const rig = await skillRig();
    rig.publish('registry.test/skills/low:1', { name: 'low', requires: [REF] });
    rig.publish(REF, { name: 'format', requires: ['registry.test/skills/low:1'] });
    expect(await refusal(rig, user())).toMatchObject({
      problem: 'unprocessable',
      detail: expect.stringContaining('format is required by low is required by format'),
    });
    rig.publish(REF, { name: 'format', requires: ['registry.test/skills/none:1'] });
    expect(await refusal(rig, user())).toMatchObject({
      problem: 'not_found',
      detail: expect.stringContaining('none:1'),
    });
    for (let n = 0; n < 101; n++)
      rig.publish(`registry.test/skills/s${n}:1`, {
        name: `s${n}0`,
        requires: n === 100 ? [] : [`registry.test/skills/s${n + 1}:1`],
      });
    expect(await refusal(rig, user({ name: 'registry.test/skills/s0:1' }))).toMatchObject({
      problem: 'unprocessable',
      detail: expect.stringContaining('more than 99'),
    });
    expect(await rig.read(rig.home)).toEqual({});
  });

  it('is refused when two versions of one skill are needed', async () => {
    const rig = await skillRig();
    rig.publish('registry.test/skills/low:1', { name: 'low' });
    rig.publish('registry.test/skills/low:2', { name: 'low', text: 'two' });
    rig.publish(REF, { name: 'format', requires: ['registry.test/skills/low:1', 'registry.test/skills/low:2'] });
    expect(await refusal(rig, user())).toMatchObject({
      problem: 'unprocessable',
      detail: expect.stringContaining('different versions'),
    });
  });
});

describe('a skill of a project', () => {
  it('is written to the lock file with its signer, which must stay the same', async () => {
    const rig = await skillRig();
    const artifact = rig.publish(REF, { name: 'format' }, 'ann@test');
    const { record } = await install(rig, project(rig, { allowUnsigned: false }));
    expect(await entries(rig.root)).toEqual([
      {
        name: 'format',
        source: REF,
        resolvedReference: artifact.resolvedReference,
        digest: artifact.digest,
        contentDigest: artifact.contentDigest,
        provenance: {
          signerIdentity: 'ann@test',
          certIssuer: 'https://issuer.test',
          repositoryUri: 'https://git.test/skills',
          repositoryRef: 'refs/heads/main',
          runnerEnvironment: 'github-hosted',
        },
        explicit: true,
      },
    ]);
    expect(record.root).toBe(rig.root);
    const details = await skillDetails(rig.state, 'format', { scope: 'project', root: rig.root });
    expect(details).toMatchObject({
      skill: {
        managed: true,
        project_root: rig.root,
        scope: 'project',
        provenance: { signer_identity: 'ann@test', cert_issuer: 'https://issuer.test' },
      },
    });
    rig.publish(REF, { name: 'format', text: 'two' }, 'eve@test');
    expect(await refusal(rig, project(rig))).toEqual({
      problem: 'signature_refused',
      detail:
        'format is signed by eve@test (https://issuer.test), and it was signed by ann@test (https://issuer.test) before',
    });
    const other = rig.publish(REF, { name: 'format', text: 'three' });
    rig.signers.set(other.digest, signedBy('ann@test', { ref: 'refs/heads/attack' }));
    expect(await refusal(rig, project(rig))).toMatchObject({ detail: expect.stringContaining('repositoryRef') });
    rig.publish(REF, { name: 'format', text: 'four' });
    expect(await refusal(rig, project(rig))).toMatchObject({ detail: expect.stringContaining('has no signature') });
    rig.signers.set(artifact.digest, { kind: 'invalid', reason: 'the digest differs' });
    expect(await refusal(rig, project(rig, { name: artifact.resolvedReference }))).toMatchObject({
      problem: 'signature_refused',
      detail: expect.stringContaining('the digest differs'),
    });
  });

  it('needs allow_unsigned when it is not signed, and signatures are not checked for the user', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    expect(await refusal(rig, project(rig, { allowUnsigned: false }))).toEqual({
      problem: 'signature_refused',
      detail: 'format has no signature: allow_unsigned accepts it',
    });
    expect(await rig.read(rig.root)).toEqual({});
    await install(rig, project(rig));
    expect(await entries(rig.root)).toMatchObject([{ name: 'format', unsigned: true }]);
    await install(rig, user());
    expect(await listSkills(rig.state)).toMatchObject([
      { scope: 'user', managed: false },
      { scope: 'project', managed: true, unsigned: true },
    ]);
  });

  it('is refused with a lock file of another version, which is not changed', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await writeFile(join(rig.root, 'toolmgr.lock.yaml'), 'version: 2\n');
    expect(await refusal(rig, project(rig))).toMatchObject({ problem: 'bad_request' });
    expect(await readFile(join(rig.root, 'toolmgr.lock.yaml'), 'utf8')).toBe('version: 2\n');
    expect(Object.keys(await rig.read(rig.root))).toEqual(['toolmgr.lock.yaml']);
  });

  it('takes over a folder of the repository with the same content', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await mkdir(join(rig.root, '.alpha/skills/format'), { recursive: true });
    await writeFile(join(rig.root, '.alpha/skills/format/SKILL.md'), '# format');
    expect((await install(rig, project(rig, { clients: ['alpha'] }))).record.clients).toEqual(['alpha']);
  });

  it('writes nothing when the folder of the client is a link', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    const outside = join(rig.base, 'outside');
    await mkdir(outside);
    await symlink(outside, join(rig.root, '.alpha'));
    expect(await refusal(rig, project(rig))).toMatchObject({
      problem: 'bad_request',
      detail: expect.stringContaining('is a link or not a folder'),
    });
    expect(await readdir(outside)).toEqual([]);
    expect(await listSkills(rig.state)).toEqual([]);
  });
});
