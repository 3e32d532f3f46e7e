import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProblem, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { onTestFinished } from 'vitest';
import type { SkillArtifact } from '../../../../plugins/skills/artifact/artifact.ts';
import type { SkillDeps } from '../../../../plugins/skills/install/skill-deps.ts';
import { stateGroups } from '../../../../plugins/skills/install/state-groups.ts';
import type { SkillVerification } from '../../../../plugins/skills/signature/verify-skill.ts';

import { artifactOf, type MadeSkill } from './made-skill.ts';

// a disk in memory, where there is one: the tests of crashes wait for the disk very often
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export type SkillRig = Awaited<ReturnType<typeof skillRig>>;

/** A state folder, a home folder, a project, and skills by reference, in memory. */
export async function skillRig() {
  const base = await realpath(await mkdtemp(join(FOLDER, 'toolmgr-skills-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [state, home, root] = [join(base, 'state'), join(base, 'home'), join(base, 'project')];
  for (const folder of [state, home, join(root, '.git')]) await mkdir(folder, { recursive: true });
  const published = new Map<string, SkillArtifact | Problem>();
  const signers = new Map<string, SkillVerification>();
  const deps: SkillDeps = {
    state,
    groups: stateGroups(state),
    clients: async () => [
      { name: 'alpha', isInstalled: true, userFolder: join(home, '.alpha/skills'), projectFolder: '.alpha/skills' },
      { name: 'beta', isInstalled: true, userFolder: join(home, '.agents/skills'), projectFolder: '.agents/skills' },
      { name: 'gamma', isInstalled: true, userFolder: join(home, '.agents/skills'), projectFolder: '.agents/skills' },
      { name: 'absent', isInstalled: false, userFolder: join(home, '.absent/skills'), projectFolder: '.absent/skills' },
      { name: 'plain', isInstalled: true },
    ],
    async resolve(reference) {
      const found = published.get(reference) ?? problem('not_found', `there is no ${reference}`);
      return isProblem(found as never) ? (found as Problem) : { artifact: found as SkillArtifact };
    },
    verify: async ({ digest }) => signers.get(digest) ?? { kind: 'unsigned' },
  };
  return {
    base,
    state,
    home,
    root,
    deps,
    published,
    /** Publishes a skill under a tag and under its digest. */
    publish(reference: string, made: MadeSkill, signer?: string): SkillArtifact {
      const artifact = artifactOf(reference, made);
      published.set(reference, artifact);
      const { tag: _, ...pinned } = artifact;
      published.set(artifact.resolvedReference, { ...pinned, source: artifact.resolvedReference });
      if (signer !== undefined) signers.set(artifact.digest, signedBy(signer));
      return artifact;
    },
    signers,
    /** Every file below a folder with its text; temporary files of the state folder too. */
    read: (folder: string) => readTexts(folder),
    async copyTo(target: string): Promise<void> {
      await cp(base, target, { recursive: true });
    },
  };
}

export function signedBy(identity: string, more: { readonly ref?: string } = {}): SkillVerification {
  return {
    kind: 'signed',
    signer: {
      identity,
      issuer: 'https://issuer.test',
      repositoryUri: 'https://git.test/skills',
      repositoryRef: more.ref ?? 'refs/heads/main',
      runnerEnvironment: 'github-hosted',
      sigstoreUrl: '',
    },
  };
}

/** Text of each file below a folder, by path; a link as `-> target`. Empty when there is no folder. */
export async function readTexts(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => !entry.isDirectory());
  const texts = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(folder.length + 1), entry.isFile() ? await readFile(path, 'utf8') : '(no file)'] as const;
  });
  return Object.fromEntries((await Promise.all(texts)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const signal = new AbortController().signal;
