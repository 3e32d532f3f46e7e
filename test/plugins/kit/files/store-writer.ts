// Adds entries of its own to every store of a state folder, and prints each one that is stored.
import { join } from 'node:path';
import { changeGroup } from '../../../../plugins/kit/workloads/state/groups.ts';
import { changeConfig } from '../../../../plugins/kit/workloads/state/records.ts';
import { workloadSecretStore } from '../../../../plugins/kit/workloads/state/workload-secret-store.ts';
import { encryptedFile } from '../../../../plugins/secrets/encrypted/encrypted-file.ts';
import { unlocker } from '../../../../plugins/secrets/encrypted/unlock.ts';
import { changeLock } from '../../../../plugins/skills/lock/change-lock.ts';

const [state = '', writer = '', entries = ''] = process.argv.slice(2);
const path = join(state, 'secrets_encrypted');
const secrets = encryptedFile({ path, unlock: unlocker({ path, env: { TOOLMGR_SECRETS_PASSWORD: 'correct horse' } }) });
const ofWorkload = workloadSecretStore(state, 'one');
const digest = `sha256:${'0'.repeat(64)}`;

const stores: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  configuration: (name) =>
    changeConfig(state, 'one', (now) => ({ ...now, env_vars: { ...now.env_vars, [name]: '1' } })),
  group: (name) => changeGroup(state, 'team', ({ skills }) => ({ skills: [...skills, name] })),
  secret: (name) => secrets.change(({ user }) => void user.set(name, '1')),
  workloadSecret: (name) => ofWorkload.write(name, '1'),
  lockFile: (name) => {
    const after = { name, source: name, resolvedReference: name, digest, contentDigest: digest };
    return changeLock(join(state, 'project'), [{ name, after }]);
  },
};

for (let n = 0; n < Number(entries); n++) {
  for (const [store, add] of Object.entries(stores)) {
    const name = `${writer}-${n}`;
    await add(name);
    process.stdout.write(`${store} ${name}\n`);
  }
}
