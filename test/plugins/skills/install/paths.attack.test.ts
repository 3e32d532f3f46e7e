import { chown, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkProjectRoot } from '@toolmgr/plugins/kit/operations';
import { describe, expect, it } from 'vitest';
import {
  applyFolder,
  type FolderStep,
  revertFolder,
  stageFolder,
} from '../../../../plugins/skills/folders/skill-folder.ts';
import { installSkill } from '../../../../plugins/skills/install/install.ts';
import { uninstallSkill } from '../../../../plugins/skills/install/uninstall.ts';
import { type SkillRig, signal, skillRig } from './skill-rig.ts';

const REF = 'registry.test/skills/format:1';

const why = async (root: string): Promise<string | undefined> => {
  const checked = await checkProjectRoot(root);
  return 'problem' in checked ? checked.detail : undefined;
};

describe('the root of a project', () => {
  it('is a real folder of a git work tree, given as an absolute path', async () => {
    const { base, root } = await skillRig();
    expect(await checkProjectRoot(`${root}/`)).toEqual({ root });
    await symlink(root, join(base, 'link'));
    await mkdir(join(base, 'real/below/.git'), { recursive: true });
    await symlink(join(base, 'real'), join(base, 'part'));
    await writeFile(join(base, 'file'), '');
    expect(await why('project')).toContain('is not an absolute path');
    expect(await why(`${root}\0/etc`)).toContain('has a NUL character');
    expect(await why(`${root}/../project`)).toContain('has a part ".."');
    expect(await why(join(base, 'none'))).toContain('does not exist');
    expect(await why(join(base, 'file', 'below'))).toContain('does not exist');
    expect(await why(join(base, 'file'))).toContain('is not a folder');
    expect(await why(join(base, 'link'))).toContain('is a symbolic link');
    expect(await why(join(base, 'part', 'below'))).toContain('has a symbolic link in its path');
    expect(await why(join(base, 'home'))).toContain('it has no .git');
    expect(await why(`/${'a'.repeat(5_000)}`)).toContain('has more than');
    expect(await why(`/${'a'.repeat(300)}`)).toContain('is not a path that can be read');
    expect(await why('/')).toContain('it has no .git');
  });

  it.runIf(process.geteuid?.() === 0)('does not belong to another user', async () => {
    const { root } = await skillRig();
    await chown(root, 12_345, 12_345);
    expect(await checkProjectRoot(root)).toMatchObject({ problem: 'forbidden' });
  });
});

const STEP = { segments: ['.alpha', 'skills'], name: 'format', action: 'put', replaces: true } as const;
const FILES = [{ path: 'SKILL.md', size: 1, mode: 0o644, content: Buffer.from('x') }];

describe('a folder that is replaced by a link', () => {
  const outside = async ({ base }: SkillRig) => {
    await mkdir(join(base, 'outside/skills/format'), { recursive: true });
    await writeFile(join(base, 'outside/skills/format/keep'), 'kept');
    return join(base, 'outside');
  };
  const swap = async ({ root }: SkillRig, target: string) => {
    await rename(join(root, '.alpha'), join(root, '.away'));
    await symlink(target, join(root, '.alpha'));
  };

  it('between staging and the rename is refused, and nothing is written behind it', async () => {
    const rig = await skillRig();
    const target = await outside(rig);
    const step: FolderStep = { ...STEP, base: rig.root };
    await stageFolder('1', step, FILES);
    await swap(rig, target);
    await expect(applyFolder('1', step)).rejects.toThrow('is a link or not a folder');
    await expect(revertFolder('1', step)).rejects.toThrow('is a link or not a folder');
    expect(await rig.read(target)).toEqual({ 'skills/format/keep': 'kept' });
  });

  it('at any moment of many installations gets no file', async () => {
    const rig = await skillRig();
    const target = await outside(rig);
    let ends = false;
    const swaps = (async () => {
      await mkdir(join(rig.root, '.alpha/skills'), { recursive: true });
      while (!ends) {
        // the installation may make the folder again in between
        await swap(rig, target).catch(() => {});
        await rm(join(rig.root, '.alpha'), { recursive: true, force: true });
        await rename(join(rig.root, '.away'), join(rig.root, '.alpha')).catch(() => {});
      }
    })();
    for (let n = 0; n < 30; n++) {
      rig.publish(REF, { name: 'format', text: `version ${n}` });
      const scope = { scope: 'project', root: rig.root } as const;
      const request = { name: REF, scope, allowUnsigned: true, force: true, clients: ['alpha'] };
      await installSkill(rig.deps, request, signal).catch(() => {});
    }
    ends = true;
    await swaps;
    expect(await rig.read(target)).toEqual({ 'skills/format/keep': 'kept' });
  });

  it.runIf(process.platform === 'linux')('as the root of the project is refused', async () => {
    const rig = await skillRig();
    const step: FolderStep = { ...STEP, base: rig.root };
    await mkdir(join(rig.base, 'other'));
    await rename(rig.root, join(rig.base, 'moved'));
    await symlink(join(rig.base, 'other'), rig.root);
    await expect(stageFolder('1', step, FILES)).rejects.toThrow('is a link or not a folder');
    expect(await readdir(join(rig.base, 'other'))).toEqual([]);
  });
});

describe('what is at the place of a skill', () => {
  it('is replaced and not followed when it is a link', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await mkdir(join(rig.home, '.alpha/skills'), { recursive: true });
    await mkdir(join(rig.base, 'outside'));
    await symlink(join(rig.base, 'outside'), join(rig.home, '.alpha/skills/format'));
    const request = { name: REF, scope: { scope: 'user' }, clients: ['alpha'] } as const;
    expect(await installSkill(rig.deps, request, signal)).toMatchObject({ problem: 'conflict' });
    expect(await readlink(join(rig.home, '.alpha/skills/format'))).toBe(join(rig.base, 'outside'));
    await installSkill(rig.deps, { ...request, force: true }, signal);
    expect(await rig.read(join(rig.home, '.alpha/skills'))).toEqual({ 'format/SKILL.md': '# format' });
    await rm(join(rig.home, '.alpha/skills/format'), { recursive: true });
    await symlink(join(rig.base, 'outside'), join(rig.home, '.alpha/skills/format'));
    await writeFile(join(rig.base, 'outside/keep'), 'kept');
    await uninstallSkill(rig.deps, 'format', { scope: 'user' });
    expect(await rig.read(join(rig.base, 'outside'))).toEqual({ keep: 'kept' });
  });

  it('is refused when its name differs in case only', async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await mkdir(join(rig.home, '.alpha/skills/Format'), { recursive: true });
    const request = { name: REF, scope: { scope: 'user' }, clients: ['alpha'], force: true } as const;
    expect(await installSkill(rig.deps, request, signal)).toMatchObject({
      problem: 'conflict',
      detail: expect.stringContaining('in case only'),
    });
  });

  it("may be behind a link when the user's own folder is one", async () => {
    const rig = await skillRig();
    rig.publish(REF, { name: 'format' });
    await mkdir(join(rig.base, 'dotfiles'));
    await mkdir(join(rig.home, '.alpha'), { recursive: true });
    await symlink(join(rig.base, 'dotfiles'), join(rig.home, '.alpha/skills'));
    await installSkill(rig.deps, { name: REF, scope: { scope: 'user' }, clients: ['alpha'] }, signal);
    expect(await rig.read(join(rig.base, 'dotfiles'))).toEqual({ 'format/SKILL.md': '# format' });
  });
});

describe('a path in a skill', () => {
  it.each(['../escape', 'a/../../escape', '/etc/passwd', 'a//b', 'a\\..\\b', 'a\0b', '.'])(
    'is refused when it is %j',
    async (path) => {
      const rig = await skillRig();
      const step: FolderStep = { ...STEP, base: rig.root };
      await expect(stageFolder('1', step, [{ path, size: 1, mode: 0o644, content: Buffer.from('x') }])).rejects.toThrow(
        'is not a path in a skill',
      );
    },
  );
});
