// Agent skills: artifacts, installation into clients, and the lock file of a project.

export { type BuildOptions, type BuiltSkill, buildSkill } from './artifact/build-skill.ts';
export { type PushOptions, pushSkill } from './artifact/push-skill.ts';
export { readFolderSkill } from './artifact/validate-folder.ts';
export { type InstallRequest, installSkill } from './install/install.ts';
export { type InstalledSkill, listSkills, type SkillFilter, skillDetails } from './install/installed-skill.ts';
export { type OpenSkills, openSkills } from './install/open-skills.ts';
export { checkProjectRoot } from './install/project-root.ts';
export type { SkillDeps, SkillReason } from './install/skill-deps.ts';
export { hasDrift, type SyncRequest, type SyncResult, syncSkills } from './install/sync.ts';
export { uninstallSkill } from './install/uninstall.ts';
export { type UpgradeOutcome, type UpgradeRequest, upgradeSkills } from './install/upgrade.ts';
export { openBuildStore, skillStoreFolder } from './oci/build-store.ts';
export type { SkillScope } from './records/skill-record.ts';
export type { SigningChoice } from './signature/sign-digest.ts';
export { type SkillHome, skillHomes } from './skill-homes.ts';
