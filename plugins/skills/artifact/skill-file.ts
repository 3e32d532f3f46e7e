import { isObject, present } from '@toolmgr/core';
import { parseImageReference } from '@toolmgr/plugins/kit/oci';
import { parseDocument } from 'yaml';
import { LIMITS } from '../limits.ts';
import { isSkillName, SKILL_NAME_RULE } from './skill-name.ts';

/** What SKILL.md says. */
export interface SkillFields {
  readonly name: string;
  readonly version?: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools: readonly string[];
  /** OCI references of skills that this one needs. */
  readonly requires: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** A file SKILL.md, or everything that is wrong with it. Sentences begin in lower case and have no period. */
export type SkillFileReading =
  | { readonly fields: SkillFields; readonly body: string; readonly warnings: readonly string[] }
  | { readonly errors: readonly string[]; readonly warnings: readonly string[] };

/** Reads SKILL.md: YAML front matter between two lines `---`, then Markdown. Source: reference workload-api §5.1. */
export function readSkillFile(bytes: Buffer): SkillFileReading {
  const failed = (...errors: readonly string[]): SkillFileReading => ({ errors, warnings: [] });
  if (bytes.length > LIMITS.skillFileBytes)
    return failed(`SKILL.md is larger than ${LIMITS.skillFileBytes / 1024 ** 2} MB`);
  const text = decoded(bytes);
  if (text === undefined) return failed('SKILL.md is not UTF-8 text');
  const found = FRONT_MATTER.exec(text);
  if (found === null) return failed('SKILL.md has no front matter: expected YAML between two lines ---');
  const [whole, yaml = ''] = found;
  if (Buffer.byteLength(yaml) > LIMITS.frontMatterBytes)
    return failed(`the front matter of SKILL.md is larger than ${LIMITS.frontMatterBytes / 1024} KB`);
  const read = mapIn(yaml);
  if (typeof read === 'string') return failed(read);
  const errors: string[] = [];
  const warnings: string[] = [];
  const fields = fieldsOf(read, errors, warnings);
  const body = text.slice(whole.length);
  if (body.trimEnd().split('\n').length > LIMITS.bodyLines)
    warnings.push(`the body of SKILL.md has more than ${LIMITS.bodyLines} lines`);
  return errors.length > 0 ? { errors, warnings } : { fields, body, warnings };
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)(?<=\n)---[ \t]*(?:\r?\n|$)/;

function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // it drops a byte order mark
  } catch {
    return undefined;
  }
}

function mapIn(yaml: string): Readonly<Record<string, unknown>> | string {
  // every scalar is a text: `version: 1.10` is no number
  const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'silent' });
  const [error] = document.errors;
  // the message of the parser quotes the text on its further lines
  if (error !== undefined) return `the front matter of SKILL.md is not YAML: ${error.message.split('\n')[0]}`;
  try {
    const value: unknown = document.toJS({ maxAliasCount: 10 });
    return isObject(value) ? value : 'the front matter of SKILL.md is not a map of fields';
  } catch {
    return 'the front matter of SKILL.md uses too many YAML aliases';
  }
}

function fieldsOf(read: Readonly<Record<string, unknown>>, errors: string[], warnings: string[]): SkillFields {
  const text = (key: string, maxLength: number): string | undefined => {
    const value = read[key];
    if (isAbsent(value)) return undefined;
    if (typeof value !== 'string') errors.push(`${key} is not a text`);
    else if ([...value].length > maxLength) errors.push(`${key} is longer than ${maxLength} characters`);
    else return value;
    return '';
  };
  const name = required('name', text('name', Number.MAX_SAFE_INTEGER), errors);
  if (name !== '' && !isSkillName(name))
    errors.push(`the name ${JSON.stringify(name.slice(0, 100))} is not valid: expected ${SKILL_NAME_RULE}`);
  const description = required('description', text('description', LIMITS.descriptionLength), errors);
  const version = text('version', Number.MAX_SAFE_INTEGER);
  const license = text('license', Number.MAX_SAFE_INTEGER);
  const compatibility = text('compatibility', LIMITS.compatibilityLength);
  return {
    name,
    description,
    ...present({ version, license, compatibility }),
    allowedTools: allowedToolsOf(read['allowed-tools'], errors, warnings),
    requires: requiresOf(read['toolmgr.requires'], errors),
    metadata: metadataOf(read.metadata, errors),
  };
}

function required(key: string, value: string | undefined, errors: string[]): string {
  if (value === undefined || (value.trim() === '' && !errors.some((each) => each.startsWith(`${key} `)))) {
    errors.push(`${key} is missing in the front matter of SKILL.md`);
    return '';
  }
  return value;
}

/** A key without a value is an empty text. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function allowedToolsOf(value: unknown, errors: string[], warnings: string[]): readonly string[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') {
    const hasComma = value.includes(',');
    if (hasComma) warnings.push('allowed-tools is separated by commas: expected spaces or a list');
    return value
      .split(hasComma ? ',' : /\s+/)
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  errors.push('allowed-tools is neither a list of texts nor a text');
  return [];
}

function requiresOf(value: unknown, errors: string[]): readonly string[] {
  if (isAbsent(value)) return [];
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    errors.push('toolmgr.requires is not a list of texts');
    return [];
  }
  if (value.length > LIMITS.requires) errors.push(`toolmgr.requires has more than ${LIMITS.requires} references`);
  for (const each of value.slice(0, LIMITS.requires)) {
    if (!each.includes('/') || parseImageReference(each) === undefined)
      errors.push(`toolmgr.requires has ${JSON.stringify(each.slice(0, 100))}, which is no OCI reference`);
  }
  return value;
}

function metadataOf(value: unknown, errors: string[]): Readonly<Record<string, string>> {
  if (isAbsent(value)) return {};
  if (isObject(value) && Object.values(value).every((each) => typeof each === 'string'))
    return value as Readonly<Record<string, string>>;
  errors.push('metadata is not a map from texts to texts');
  return {};
}
