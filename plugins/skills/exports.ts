// Agent skills, for commands and the settings of their host.

export type { PushOptions } from './artifact/push-skill.ts';
export type { InstalledSkill } from './install/installed-skill.ts';
export { checkProjectRoot } from './install/project-root.ts';
export type { SkillReason } from './install/skill-deps.ts';
export { hasDrift, type SyncResult } from './install/sync.ts';
export type { UpgradeOutcome } from './install/upgrade.ts';
export type { SkillScope } from './records/skill-record.ts';
export { type SkillHome, skillHomes } from './skill-homes.ts';
