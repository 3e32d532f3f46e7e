// Changes two secrets of the encrypted file in its argument again and again, always to the same value.
import { encryptedFile } from '../../../../plugins/secrets/encrypted/encrypted-file.ts';
import { unlocker } from '../../../../plugins/secrets/encrypted/unlock.ts';

const path = process.argv[2] ?? '';
const file = encryptedFile({ path, unlock: unlocker({ path, env: process.env }) });
for (let n = 1; ; n++) {
  await file.change(({ user }) => {
    user.set('value', `v${n}`);
    user.set('copy', `v${n}`);
  });
  if (n === 1) process.stdout.write('writing\n');
}
