import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { SkillArtifact } from '../artifact/artifact.ts';
import { graphProblem, type LockedSkill } from '../lock/locked-skill.ts';
import type { SkillDeps } from './skill-deps.ts';

/** A skill to install and the skills of this installation that need it. */
export interface SkillNode {
  readonly artifact: SkillArtifact;
  /** What an upgrade reads again. */
  readonly source: string;
  /** Names; empty for the skill that the user asked for. */
  readonly parents: readonly string[];
}

/** Maximum skills that one installation may bring. */
export const MAX_TREE = 100;

/** Reads everything that a skill needs, and what that needs. The given skill is first. Circles and a second version are refused. */
export async function dependencyTree(
  deps: Pick<SkillDeps, 'resolve'>,
  root: Pick<SkillNode, 'artifact' | 'source'>,
  signal: AbortSignal,
): Promise<readonly SkillNode[] | Problem> {
  const found = new Map<string, { artifact: SkillArtifact; source: string; parents: string[] }>();
  found.set(root.artifact.name, { ...root, parents: [] });
  const read = new Map<string, SkillArtifact>();
  for (const { artifact: parent } of found.values()) {
    for (const reference of new Set(parent.requires)) {
      const known = read.get(reference);
      const resolved = known === undefined ? await deps.resolve(reference, { signal }) : { artifact: known };
      if ('problem' in resolved)
        return problem(resolved.problem, `${parent.name} needs ${reference}: ${resolved.detail}`);
      const { artifact } = resolved;
      read.set(reference, artifact);
      const before = found.get(artifact.name);
      if (before !== undefined && before.artifact.digest !== artifact.digest && before.artifact !== root.artifact)
        return problem(
          'unprocessable',
          `${parent.name} needs ${reference}, and ${before.parents.join(', ')} needs ${before.source}: they are different versions`,
        );
      if (before === undefined && found.size >= MAX_TREE)
        return problem('unprocessable', `${root.artifact.name} needs more than ${MAX_TREE - 1} other skills`);
      // a Map is iterated in the order of insertion, also over what is added meanwhile
      if (before === undefined) found.set(artifact.name, { artifact, source: reference, parents: [parent.name] });
      else if (!before.parents.includes(parent.name)) before.parents.push(parent.name);
    }
  }
  const nodes = [...found.values()];
  const circle = graphProblem(
    nodes.map(({ artifact, parents }) => ({ name: artifact.name, requiredBy: parents }) as unknown as LockedSkill),
  );
  return circle === undefined ? nodes : problem('unprocessable', `the skills need each other: ${circle}`);
}
