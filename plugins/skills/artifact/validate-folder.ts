import { basename } from 'node:path';
import { readFolder } from '../files/read-folder.ts';
import { LIMITS } from '../limits.ts';
import type { SkillFile } from './artifact.ts';
import { readSkillFile, type SkillFields } from './skill-file.ts';

/** What is wrong with a skill in a folder. */
export interface FolderValidation {
  readonly valid: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** A valid skill in a folder, or the errors. */
export type FolderSkill =
  | (FolderValidation & { readonly valid: true; readonly fields: SkillFields; readonly files: readonly SkillFile[] })
  | (FolderValidation & { readonly valid: false });

/** Reads and checks a skill in a folder, within the limits of a build. Source: reference workload-api §5.1. */
export async function readFolderSkill(path: string): Promise<FolderSkill> {
  const read = await readFolder(path, LIMITS.buildBytes);
  if ('errors' in read) return { valid: false, errors: read.errors, warnings: [] };
  const { files } = read;
  const file = files.find((each) => each.path === 'SKILL.md');
  if (file === undefined) return { valid: false, errors: ['SKILL.md is missing'], warnings: [] };
  const skill = readSkillFile(file.content);
  if ('errors' in skill) return { valid: false, ...skill };
  const { fields, warnings } = skill;
  const folder = basename(path);
  if (fields.name !== folder) {
    const error = `the name ${JSON.stringify(fields.name)} is not the name of the folder, ${JSON.stringify(folder)}`;
    return { valid: false, errors: [error], warnings };
  }
  return { valid: true, errors: [], warnings, fields, files };
}
