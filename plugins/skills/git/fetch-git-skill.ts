import { type Problem, problem } from '../../shared/management/index.ts';
import type { SkillArtifact } from '../artifact/artifact.ts';
import type { ResolveOptions } from '../artifact/resolve-options.ts';
import type { GitReference } from '../artifact/skill-reference.ts';

export async function fetchGitSkill(
  _reference: GitReference,
  source: string,
  _options: ResolveOptions,
): Promise<{ readonly artifact: SkillArtifact } | Problem> {
  return problem('not_found', source);
}
