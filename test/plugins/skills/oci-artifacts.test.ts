import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildSkill } from '../../../plugins/skills/artifact/build-skill.ts';
import { pushSkill } from '../../../plugins/skills/artifact/push-skill.ts';
import { resolveSkill } from '../../../plugins/skills/artifact/resolve-skill.ts';
import { openBuildStore } from '../../../plugins/skills/oci/build-store.ts';
import { registryMissing, startDockerRegistry } from '../../support/docker-registry.ts';
import { skillFolder } from '../../support/skill-folder.ts';

const signal = AbortSignal.timeout(60_000);

describe('local builds', () => {
  it('are the same bytes for the same files, in any order of reading and at any time', async () => {
    await using skill = await skillFolder('code-review', ['version: 1.2.0', 'license: MIT']);
    const first = await buildSkill(skill.path, undefined, { store: join(skill.home, 'one'), env: process.env });
    const second = await buildSkill(skill.path, 'other', { store: join(skill.home, 'two'), env: {} });
    expect(first).toMatchObject({ reference: 'code-review', warnings: [] });
    expect(second).toMatchObject({ digest: (first as { digest: string }).digest });
    const later = await buildSkill(skill.path, 'other', {
      store: join(skill.home, 'two'),
      env: { SOURCE_DATE_EPOCH: '1700000000' },
    });
    expect((later as { digest: string }).digest).not.toBe((first as { digest: string }).digest);
  });

  it('are listed with name, description and version, and can be read and deleted', async () => {
    await using skill = await skillFolder('code-review', ['version: 1.2.0']);
    await skill.write('.hidden', 'x');
    const store = join(skill.home, 'store');
    const built = await buildSkill(skill.path, undefined, { store, env: process.env });
    const builds = openBuildStore(store);
    const { digest } = built as { digest: string };
    expect(await builds.list()).toEqual([
      { tag: 'code-review', digest, name: 'code-review', description: 'Reviews a change.', version: '1.2.0' },
    ]);
    const read = await resolveSkill('code-review', { store, signal, env: process.env });
    expect(read).toMatchObject({
      artifact: {
        name: 'code-review',
        version: '1.2.0',
        body: '# Use it\n\nRead the files.\n',
        kind: 'local',
        digest,
        resolvedReference: 'code-review',
      },
    });
    const { files } = (read as { artifact: { files: readonly { path: string; mode: number }[] } }).artifact;
    expect(files.map(({ path, mode }) => [path, mode])).toEqual([
      ['SKILL.md', 0o644],
      ['references/rules.md', 0o644],
      ['scripts/check.sh', 0o644],
    ]);
    expect(await builds.remove('code-review')).toBe(true);
    expect(await builds.remove('code-review')).toBe(false);
    expect(await builds.list()).toEqual([]);
  });
});

describe.skipIf(registryMissing() !== undefined)(`a registry without referrers ${registryMissing() ?? ''}`, () => {
  it('takes a skill, and gives it back with the same content', async () => {
    await using registry = await startDockerRegistry();
    await using skill = await skillFolder('code-review', ['version: 1.2.0']);
    const store = join(skill.home, 'store');
    const reference = `${registry.host}/org/code-review:v1`;
    const env = { HOME: skill.home };
    const built = await buildSkill(skill.path, reference, { store, env });
    const pushed = await pushSkill(
      reference,
      { kind: 'unsigned' },
      { store, signal, env, allowPrivateAddresses: true },
    );
    const { digest } = built as { digest: string };
    expect(pushed).toEqual({ reference: `${registry.host}/org/code-review@${digest}`, isSigned: false });
    const empty = join(skill.home, 'empty');
    const read = await resolveSkill(reference, { store: empty, signal, env, allowPrivateAddresses: true });
    expect(read).toMatchObject({ artifact: { kind: 'oci', digest, tag: 'v1', source: reference } });
    const local = await resolveSkill(reference, { store, signal, env: process.env });
    expect((read as { artifact: { contentDigest: string } }).artifact.contentDigest).toBe(
      (local as { artifact: { contentDigest: string } }).artifact.contentDigest,
    );
    expect(await readFile(join(skill.path, 'SKILL.md'), 'utf8')).toContain('code-review');
  });
});
