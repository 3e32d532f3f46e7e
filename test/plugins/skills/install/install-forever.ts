// Installs two versions of a skill in turn, until it is killed. Its argument is the folder of a skill rig.
import { join } from 'node:path';
import { installSkill } from '../../../../plugins/skills/install/install.ts';
import { stateGroups } from '../../../../plugins/skills/install/state-groups.ts';
import { artifactOf } from './made-skill.ts';

const base = process.argv[2] ?? '';
const state = join(base, 'state');
for (let turn = 0; ; turn++) {
  const text = `version ${turn % 2}`;
  const files = { 'a.md': text, 'b/c.md': text, 'd.md': text };
  const artifact = artifactOf('registry.test/skills/format:1', { name: 'format', text, files });
  await installSkill(
    {
      state,
      groups: stateGroups(state),
      clients: async () => [{ name: 'alpha', isInstalled: true, userFolder: join(base, 'home/.alpha/skills') }],
      resolve: async () => ({ artifact }),
      verify: async () => ({ kind: 'unsigned' }),
    },
    { name: 'registry.test/skills/format:1', scope: { scope: 'user' } },
    new AbortController().signal,
  );
  if (turn === 0) process.send?.('installed');
}
