const NAME = /^[a-z0-9](?:-?[a-z0-9])+$/;
const MAX_LENGTH = 64;

/** The rule for names of skills, for messages. */
export const SKILL_NAME_RULE =
  '2 to 64 lower-case letters, digits and single hyphens, with a letter or digit at the start and the end';

/** Whether a text is a name of a skill. It is safe as the name of a folder. Source: reference workload-api §5.1. */
export function isSkillName(text: string): boolean {
  return text.length >= 2 && text.length <= MAX_LENGTH && NAME.test(text);
}
