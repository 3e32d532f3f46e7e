import { present } from '@toolmgr/core';
import { problem, type SkillLookup } from '@toolmgr/plugins/kit/operations';
import type { Registries } from './registries.ts';

/** Finds skills by their name in all registries of the user. */
export function skillLookup(registries: Pick<Registries, 'configured' | 'load'>): SkillLookup {
  return async ({ namespace, name }, signal) => {
    const loaded = await registries.load({ signal });
    if ('problem' in loaded) return problem('upstream_failed', loaded.problem);
    const mayBePrivate = (await registries.configured()).filter(
      ({ allowPrivateAddresses, source }) => allowPrivateAddresses || source.type === 'file',
    );
    return loaded.registry.skills
      .filter((skill) => skill.name === name && (namespace === undefined || skill.namespace === namespace))
      .map(({ packages = [], version, ...skill }) => ({
        namespace: skill.namespace,
        name: skill.name,
        ...(version === undefined ? {} : { version }),
        allowsPrivateAddresses: mayBePrivate.some(
          (each) => each.name === loaded.registry.sourceOfSkill(`${skill.namespace}/${skill.name}`),
        ),
        packages: packages.flatMap(({ registryType, ...rest }) =>
          registryType === undefined ? [] : [{ registryType, ...present(rest) }],
        ),
      }));
  };
}
