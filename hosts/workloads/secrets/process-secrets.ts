import { type SystemSecrets, useSystemSecrets } from '@toolmgr/plugins/kit/workloads';
import { type EncryptedFile, type FileKey, headerOf, secretsPath } from '@toolmgr/plugins/secrets';
import { openEncrypted } from '../../shared/secrets/open-encrypted.ts';
import { chooseProvider } from '../../shared/secrets/provider.ts';

let opened: EncryptedFile | undefined;

/**
 * The encrypted secrets as this process opens them: a password is asked for once. From the first call on, secrets of
 * workloads are kept there when they are the chosen provider. `known` is the key that the starting command passed.
 */
export function encryptedOfProcess(known?: FileKey, warn?: (line: string) => void): EncryptedFile {
  if (opened !== undefined) return opened;
  opened = openEncrypted({ ...(known === undefined ? {} : { known }), ...(warn === undefined ? {} : { warn }) });
  useSystemSecrets(systemSecretsIn(opened));
  return opened;
}

/** Whether new secrets are encrypted: the provider is chosen and its file is there. */
export async function isEncryptedChosen(): Promise<boolean> {
  return (await chooseProvider()).provider === 'encrypted' && (await headerOf(secretsPath(process.env))) !== undefined;
}

function systemSecretsIn(file: EncryptedFile): SystemSecrets {
  return {
    isChosen: isEncryptedChosen,
    read: async () => (await file.read()).system,
    change: (edit) => file.change(({ system }) => edit(system)),
  };
}
