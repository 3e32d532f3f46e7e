import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readGroup } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { installSkill } from '../../../../plugins/skills/install/install.ts';
import { listSkills } from '../../../../plugins/skills/install/installed-skill.ts';
import { uninstallSkill } from '../../../../plugins/skills/install/uninstall.ts';
import { withFailingWrites } from './failing-writes.ts';
import { type SkillRig, signal, skillRig } from './skill-rig.ts';

const REF = 'registry.test/skills/format:1';
const LOW = 'registry.test/skills/low:1';

interface TestedChange {
  before(rig: SkillRig): Promise<unknown>;
  run(rig: SkillRig): Promise<unknown>;
}

const CHANGES: Readonly<Record<string, TestedChange>> = {
  'a first installation': { before: async () => {}, run: install },
  'another version': {
    before: async (rig: SkillRig) => {
      await install(rig);
      publish(rig, 'two');
    },
    run: install,
  },
  'an uninstallation': {
    before: install,
    run: (rig: SkillRig) => uninstallSkill(rig.deps, 'format', scopeOf(rig)),
  },
};

const scopeOf = ({ root }: SkillRig) => ({ scope: 'project', root }) as const;

function publish(rig: SkillRig, text: string): void {
  rig.publish(LOW, { name: 'low', text });
  rig.publish(REF, { name: 'format', text, requires: [LOW], files: { [`${text}.md`]: text } });
}

async function install(rig: SkillRig) {
  const done = await installSkill(rig.deps, { name: REF, scope: scopeOf(rig), allowUnsigned: true }, signal);
  if ('problem' in done) throw new Error(done.detail);
}

async function rigWith(change: TestedChange): Promise<SkillRig> {
  const rig = await skillRig();
  publish(rig, 'one');
  await writeFile(join(rig.root, 'toolmgr.lock.yaml'), '# ours\nversion: 1\nskills: [] # none yet\n');
  await change.before(rig);
  return rig;
}

/** Files of clients, lock file, records and groups: without what a lock or an interrupted write leaves. */
async function everything(rig: SkillRig) {
  const state = await rig.read(join(rig.state, 'skills', 'installed'));
  const records = Object.entries(state).map(([path, text]) => [
    path.replace(/-[0-9a-f]{32}-/, '-'),
    { ...JSON.parse(text.replaceAll(rig.base, '')), installedAt: '' },
  ]);
  return {
    project: await rig.read(rig.root),
    records: Object.fromEntries(records),
    group: (await readGroup(rig.state, 'default'))?.skills,
  };
}

describe.each(Object.entries(CHANGES))('%s', (_, change) => {
  it('is complete, or is reverted by the next command, whichever write it was killed at', async () => {
    const done = await rigWith(change);
    const before = await everything(done);
    const { writes } = await withFailingWrites({ at: 0, andAllLater: false, code: 'EIO' }, () => change.run(done));
    const after = await everything(done);
    expect(after).not.toEqual(before);
    expect(writes).toBeGreaterThan(20);
    let reverted = 0;
    for (let at = 1; at <= writes; at++) {
      const rig = await rigWith(change);
      await withFailingWrites({ at, andAllLater: true, code: 'EIO' }, () => change.run(rig));
      // reading never fails and changes nothing
      await listSkills(rig.state);
      // the next command is about something else
      await uninstallSkill(rig.deps, 'other', { scope: 'user' });
      const found = await everything(rig);
      expect([before, after], `killed at write ${at}`).toContainEqual(found);
      if (JSON.stringify(found) === JSON.stringify(before)) reverted += 1;
      const left = Object.keys(await rig.read(join(rig.state, 'skills', 'changes')));
      expect(left, `killed at write ${at}`).toEqual([]);
      await change.run(rig);
      expect(await everything(rig), `again after write ${at}`).toEqual(after);
    }
    expect(reverted).toBeGreaterThan(writes / 2);
  });

  it('is reverted at once when the disk is full at any write', async () => {
    const done = await rigWith(change);
    const before = await everything(done);
    const { writes } = await withFailingWrites({ at: 0, andAllLater: false, code: 'ENOSPC' }, () => change.run(done));
    const after = await everything(done);
    for (let at = 1; at <= writes; at++) {
      const rig = await rigWith(change);
      const { outcome } = await withFailingWrites({ at, andAllLater: false, code: 'ENOSPC' }, () => change.run(rig));
      // removes what could not be removed at the end
      if (outcome.status === 'fulfilled') await uninstallSkill(rig.deps, 'other', { scope: 'user' });
      else expect(String(outcome.reason), `full at write ${at}`).toContain('ENOSPC');
      const wanted = outcome.status === 'fulfilled' ? after : before;
      expect(await everything(rig), `full at write ${at}`).toEqual(wanted);
    }
  });
});

describe('commands at the same time', () => {
  it('install different skills, and all are recorded', async () => {
    const rig = await skillRig();
    const names = Array.from({ length: 8 }, (_, n) => `skill-${n}`);
    for (const name of names) rig.publish(`registry.test/skills/${name}:1`, { name });
    await Promise.all(
      names.map((name) =>
        installSkill(
          rig.deps,
          { name: `registry.test/skills/${name}:1`, scope: scopeOf(rig), allowUnsigned: true },
          signal,
        ),
      ),
    );
    expect((await listSkills(rig.state)).map(({ metadata, managed }) => [metadata.name, managed])).toEqual(
      names.map((name) => [name, true]),
    );
    expect((await readGroup(rig.state, 'default'))?.skills).toEqual(names);
  });

  it('install one skill in several processes, of which some are killed', async () => {
    const rig = await skillRig();
    await mkdir(join(rig.home, '.alpha'), { recursive: true });
    const start = () => fork(join(import.meta.dirname, 'install-forever.ts'), [rig.base], { stdio: 'ignore' });
    for (let round = 0; round < 3; round++) {
      const children = [start(), start()];
      await Promise.all(children.map((child) => once(child, 'message')));
      await new Promise((done) => setTimeout(done, 60 * round));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => once(child, 'exit')));
      await uninstallSkill(rig.deps, 'other', { scope: 'user' });
      const files = await rig.read(join(rig.home, '.alpha/skills'));
      const texts = new Set(Object.values(files));
      expect(Object.keys(files).filter((path) => !path.startsWith('format/'))).toEqual([]);
      // all files are of one version
      expect([...texts].length).toBeLessThanOrEqual(1);
      expect(Object.keys(files)).toHaveLength((await listSkills(rig.state)).length === 0 ? 0 : 4);
    }
  });
});
