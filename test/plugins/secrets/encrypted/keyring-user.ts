// Uses the keyring of the session that runs this program, and prints what it finds as JSON.
import { KeyringError, osKeyring } from '../../../../plugins/kit/secrets/keyring/os-keyring.ts';

const id = process.argv[2] ?? '';
const keyring = osKeyring(id);
const tell = async () => {
  const before = await keyring.read();
  await keyring.write('kept in the keyring');
  const after = await keyring.read();
  const ofOther = await osKeyring(`${id}-other`).read();
  return {
    before,
    after,
    ofOther,
    removed: [await keyring.remove(), await keyring.remove()],
    end: await keyring.read(),
  };
};
const told = await tell().catch((cause: unknown) => {
  if (cause instanceof KeyringError) return { unavailable: cause.message };
  throw cause;
});
console.log(JSON.stringify(told));
process.exit(0);
