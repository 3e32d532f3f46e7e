import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { SkillScope } from '../records/skill-record.ts';
import { changeScope } from './install.ts';
import { withSkillsRemoved } from './put-skills.ts';
import type { SkillDeps } from './skill-deps.ts';

/**
 * Uninstalls a skill and the skills that only it needed. Refuses a skill that others need.
 * Resolves with the names of all that were removed.
 */
export async function uninstallSkill(
  deps: SkillDeps,
  name: string,
  scope: SkillScope,
): Promise<{ readonly removed: readonly string[] } | Problem> {
  const changed = await changeScope(deps, scope, (now) => {
    if (!now.records.has(name) && !now.locked.has(name)) return notInstalled(name, scope);
    const parents = [...now.records.values()].filter((record) => record.dependencies.some((one) => one.name === name));
    if (parents.length > 0)
      return problem(
        'bad_request',
        `${name} is needed by ${parents.map((parent) => parent.name).join(', ')}: uninstall that first`,
      );
    return withSkillsRemoved(now, [name]);
  });
  return 'problem' in changed ? changed : { removed: changed.changed };
}

/** The refusal for a skill that a scope does not have. */
export function notInstalled(name: string, scope: SkillScope): Problem {
  return problem(
    'not_found',
    scope.scope === 'user'
      ? `the skill ${name} is not installed for the user; project_root or --project-root names a project`
      : `the skill ${name} is not installed in ${scope.root}`,
  );
}
