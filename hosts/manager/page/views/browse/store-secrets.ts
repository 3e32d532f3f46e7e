import { call } from '../../app/calls.ts';
import { ApiProblem } from '../../app/problem.ts';
import type { SplitInputs } from './inputs.ts';

/**
 * Stores the new values of a form as secrets and gives all references. The name of a stored one is that of the workload and
 * its variable, e.g. `github-GITHUB_TOKEN`; a taken name gets a number.
 */
export async function storeNewSecrets(
  workload: string,
  { secrets, fresh }: SplitInputs,
): Promise<readonly { readonly name: string; readonly target: string }[]> {
  const references = [...secrets];
  for (const { target, value } of fresh) {
    references.push({ name: await store(`${workload}-${target}`, value), target });
  }
  return references;
}

async function store(key: string, value: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? key : `${key}-${number}`;
    try {
      await call('createSecret', { body: { key: name, value } });
      return name;
    } catch (error) {
      const isTaken = error instanceof ApiProblem && error.status === 409;
      if (!isTaken || number >= MAX_NAMES) throw error;
    }
  }
}

const MAX_NAMES = 20;
