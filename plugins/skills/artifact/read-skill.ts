import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { inOrder } from '../files/read-folder.ts';
import type { SkillArtifact, SkillFile } from './artifact.ts';
import { contentDigest } from './artifact.ts';
import { readSkillFile } from './skill-file.ts';

/** Where files came from. */
export type SkillOrigin = Pick<SkillArtifact, 'kind' | 'digest' | 'resolvedReference' | 'source' | 'tag'>;

/** Makes a skill from its files. The refusal is `unprocessable` when SKILL.md is missing or not valid. */
export function skillFrom(
  files: readonly SkillFile[],
  origin: SkillOrigin,
): { readonly artifact: SkillArtifact } | Problem {
  const refused = (why: string): Problem =>
    problem('unprocessable', `${JSON.stringify(origin.source)} is not a valid skill: ${why}.`);
  const file = files.find(({ path }) => path === 'SKILL.md');
  if (file === undefined) return refused('SKILL.md is missing');
  const read = readSkillFile(file.content);
  if ('errors' in read) return refused(read.errors.join('; '));
  const ordered = inOrder(files);
  return {
    artifact: { ...read.fields, body: read.body, files: ordered, ...origin, contentDigest: contentDigest(ordered) },
  };
}
