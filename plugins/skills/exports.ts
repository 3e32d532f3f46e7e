// Agent skills, for commands that need more than the operations answer.

export { buildSkill } from './artifact/build-skill.ts';
export { type PushOptions, pushSkill } from './artifact/push-skill.ts';
export { installSkill } from './install/install.ts';
export type { InstalledSkill } from './install/installed-skill.ts';
export { openSkills } from './install/open-skills.ts';
export { checkProjectRoot } from './install/project-root.ts';
export type { SkillDeps, SkillReason } from './install/skill-deps.ts';
export { hasDrift, type SyncResult } from './install/sync.ts';
export { uninstallSkill } from './install/uninstall.ts';
export type { UpgradeOutcome } from './install/upgrade.ts';
export type { SkillScope } from './records/skill-record.ts';
export type { SigningChoice } from './signature/sign-digest.ts';
export { type SkillHome, skillHomes } from './skill-homes.ts';
