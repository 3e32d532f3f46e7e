import type { Problem } from '../shared/management/index.ts';
import type { Registries } from './registries.ts';
import { loadProblem } from './registry-problem.ts';

/** A skill of a registry, as far as it says where its artifact is. */
export interface FoundSkill {
  readonly namespace: string;
  readonly name: string;
  readonly version?: string;
  readonly packages: readonly ({ readonly registryType: string } & Readonly<Record<string, string>>)[];
}

/** Finds the skills of all registries with exactly this name: of one namespace, or of all. */
export function skillLookup(registries: Pick<Registries, 'load'>) {
  return async (
    wanted: { readonly namespace?: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<readonly FoundSkill[] | Problem> => {
    const loaded = await registries.load({ signal });
    if ('problem' in loaded) return loadProblem(loaded);
    return loaded.registry.skills
      .filter(({ name, namespace }) => name === wanted.name && (wanted.namespace ?? namespace) === namespace)
      .map(({ namespace, name, version, packages = [] }) => ({
        namespace,
        name,
        ...(version === undefined ? {} : { version }),
        packages: packages.map((each) => ({ registryType: '', ...withoutAbsent(each) })),
      }));
  };
}

function withoutAbsent(value: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
