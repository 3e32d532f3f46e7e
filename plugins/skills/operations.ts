import type { Operation } from '@toolmgr/plugins/kit/operations';
import { type ArtifactOperationDeps, artifactOperations } from './artifact-operations.ts';
import { type InstallOperationDeps, installOperations } from './install/operations.ts';

/** What the operations of skills need. */
export interface SkillsDeps extends InstallOperationDeps, Omit<ArtifactOperationDeps, 'resolve' | 'servesFiles'> {}

/** All operations of skills. */
export function skillsOperations(deps: SkillsDeps): readonly Operation[] {
  const { resolve } = deps.skills;
  return [...artifactOperations({ ...deps, resolve, servesFiles: deps.servesProjects }), ...installOperations(deps)];
}
