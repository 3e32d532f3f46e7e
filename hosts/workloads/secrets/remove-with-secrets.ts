import { explainCause } from '@toolmgr/core';
import { encryptedPlace, forgetSecrets, removeRecord } from '@toolmgr/plugins/kit/workloads';
import { secretsPath } from '@toolmgr/plugins/secrets';
import { ownCommand } from '../../shared/own-command.ts';
import { encryptedOfProcess } from './process-secrets.ts';

/** How a removal ended; `left` says which secrets could not be removed. */
export interface RemovedWithSecrets {
  readonly outcome: 'removed' | 'running' | 'gone';
  readonly left?: string;
}

/** Removes a stopped workload, and its secrets from the encrypted secrets. */
export async function removeWithSecrets(state: string, name: string, id?: string): Promise<RemovedWithSecrets> {
  const place = await encryptedPlace(state, name).catch(() => undefined);
  const outcome = await removeRecord(state, name, id);
  if (outcome !== 'removed' || place === undefined) return { outcome };
  try {
    encryptedOfProcess();
    await forgetSecrets(place);
    return { outcome };
  } catch (cause) {
    const advice = `remove them with ${ownCommand('secret rm --system')}; ${ownCommand('secret list --system')} shows them`;
    return {
      outcome,
      left: `the secrets ${place} stay in ${secretsPath(process.env)} (${explainCause(cause)}): ${advice}`,
    };
  }
}
