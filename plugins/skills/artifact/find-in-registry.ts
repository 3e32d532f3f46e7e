import { type Problem, problem, type RegistrySkillPackage, type SkillLookup } from '@toolmgr/plugins/kit/operations';
import { gitReferenceText, parseSkillReference } from './skill-reference.ts';

/** What {@link findInRegistry} found: references, and whether they may lead to private addresses. */
export interface FoundSkill {
  readonly references: readonly string[];
  readonly allowsPrivateAddresses: boolean;
}

/** The references of a skill's packages in a registry: OCI first, then git. */
export async function findInRegistry(
  wanted: { readonly namespace?: string; readonly name: string },
  lookUp: SkillLookup | undefined,
  signal: AbortSignal,
): Promise<FoundSkill | Problem> {
  const shown = JSON.stringify(wanted.namespace === undefined ? wanted.name : `${wanted.namespace}/${wanted.name}`);
  const found = lookUp === undefined ? [] : await lookUp(wanted, signal);
  if ('problem' in found) return found;
  const [skill] = found;
  if (skill === undefined) {
    return problem('not_found', `There is no skill ${shown}, neither as a local build nor in a registry.`);
  }
  const names = [...new Set(found.map(({ namespace, name }) => `${namespace}/${name}`))];
  if (names.length > 1)
    return problem('conflict', `Several skills have the name ${shown}: ${names.join(', ')}. Give one of them.`);
  const references = ['oci', 'git'].flatMap((type) =>
    skill.packages.filter(({ registryType }) => registryType === type).flatMap(referenceOf),
  );
  const { allowsPrivateAddresses = false } = skill;
  if (references.length > 0) return { references, allowsPrivateAddresses };
  return problem('unprocessable', `The skill ${shown} has no OCI or git package in the registry.`);
}

function referenceOf(each: RegistrySkillPackage): readonly string[] {
  if (each.registryType === 'oci') {
    if (each.identifier === undefined) return [];
    const pinned = each.digest === undefined || each.identifier.includes('@') ? '' : `@${each.digest}`;
    return [`${each.identifier}${pinned}`];
  }
  const url = each.url ?? each.identifier ?? '';
  const parsed = parseSkillReference(url.replace(/\.git$/, ''));
  if ('problem' in parsed || parsed.kind !== 'git') return [];
  const ref = each.commit ?? each.ref?.replace(/^refs\/(heads|tags)\//, '') ?? parsed.ref;
  const path = each.subfolder ?? parsed.path;
  const { host, repository } = parsed;
  return [
    gitReferenceText({
      host,
      repository,
      ...(ref === undefined ? {} : { ref }),
      ...(path === undefined || path === '' ? {} : { path }),
    }),
  ];
}
