import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { buildSkill } from '../../../plugins/skills/artifact/build-skill.ts';
import { resolveSkill } from '../../../plugins/skills/artifact/resolve-skill.ts';
import { openBuildStore } from '../../../plugins/skills/oci/build-store.ts';
import { skillFolder } from '../../support/skill-folder.ts';

const ROUNDS = 6;
const module = (name: string): string => new URL(`../../../plugins/skills/${name}`, import.meta.url).href;

/** Builds and removes tags of a skill without an end. */
const FOREVER = `
const [, skill, store] = process.argv;
const { buildSkill } = await import(${JSON.stringify(module('artifact/build-skill.ts'))});
const { openBuildStore } = await import(${JSON.stringify(module('oci/build-store.ts'))});
const builds = openBuildStore(store);
console.log('begins');
for (let round = 0; ; round++) {
  await buildSkill(skill, 'tag-' + (round % 3), { store, env: { SOURCE_DATE_EPOCH: String(round) } });
  if (round % 2 === 0) await builds.remove('tag-' + ((round + 1) % 3));
}`;

describe('a store of local builds', () => {
  it('is whole after every kill of a process that builds and removes, and keeps the other builds', async () => {
    await using skill = await skillFolder('code-review');
    const store = join(skill.home, 'store');
    await buildSkill(skill.path, 'kept', { store, env: process.env });
    for (let round = 0; round < ROUNDS; round++) {
      const child = spawn(
        process.execPath,
        ['--input-type=module', '--conditions=development', '-e', FOREVER, skill.path, store],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      await once(child.stdout, 'data');
      await sleep(40 * round);
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      const builds = openBuildStore(store);
      const listed = await builds.list();
      expect(listed.map(({ tag }) => tag)).toContain('kept');
      for (const { tag } of listed) {
        const signal = AbortSignal.timeout(20_000);
        expect(await resolveSkill(tag, { store, signal, env: {} })).toMatchObject({
          artifact: { name: 'code-review' },
        });
        expect((await builds.artifact(tag))?.blobs).toHaveLength(3);
      }
    }
    // the next build waits for the lock of the killed process, and removes what it left
    await buildSkill(skill.path, 'kept', { store, env: { SOURCE_DATE_EPOCH: '5' } });
    for (const { tag } of await openBuildStore(store).list())
      if (tag !== 'kept') await openBuildStore(store).remove(tag);
    expect(await readdir(join(store, 'blobs/sha256'))).toHaveLength(6);
    expect(JSON.parse(await readFile(join(store, 'oci-layout'), 'utf8'))).toEqual({ imageLayoutVersion: '1.0.0' });
  });

  it('loses no build of processes that build at the same time', async () => {
    await using skill = await skillFolder('code-review');
    const store = join(skill.home, 'store');
    const tags = Array.from({ length: 12 }, (_, index) => `tag-${index}`);
    await Promise.all(
      tags.map((tag, index) => buildSkill(skill.path, tag, { store, env: { SOURCE_DATE_EPOCH: String(index) } })),
    );
    expect((await openBuildStore(store).list()).map(({ tag }) => tag)).toEqual([...tags].sort());
    for (const tag of tags) expect(await openBuildStore(store).artifact(tag)).toBeDefined();
  });
});
