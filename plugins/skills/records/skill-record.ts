import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { explainIssues } from '@toolmgr/core';
import { atomicWrite, syncFolder, whenAbsent } from '@toolmgr/plugins/kit/files';
import { z } from 'zod';
import { isSkillName } from '../artifact/skill-name.ts';

/** Whose skill it is: the user's, or that of one project. */
export type SkillScope = { readonly scope: 'user' } | { readonly scope: 'project'; readonly root: string };

const text = z.string();

/** One installed skill on disk. Members may be added; `format` changes when old ones change their meaning. */
const skillRecord = z.object({
  format: z.literal(1),
  name: text.refine(isSkillName),
  scope: z.enum(['user', 'project']),
  /** Real path of the project; only in project scope. */
  root: text.optional(),
  /** What was asked for. */
  source: text,
  reference: text,
  tag: text.optional(),
  digest: text,
  contentDigest: text,
  version: text.optional(),
  description: text,
  author: text.optional(),
  tags: z.array(text).optional(),
  clients: z.array(text),
  /** The clients' folders with it: real paths, or below the root of the project. */
  folders: z.array(z.object({ base: text, segments: z.array(text) })),
  dependencies: z.array(z.object({ name: text, reference: text, digest: text })),
  /** The user asked for it: it was not only needed by another skill. */
  explicit: z.boolean(),
  group: text.optional(),
  signer: z.record(text, text).optional(),
  /** Only where signatures are checked. */
  unsigned: z.boolean().optional(),
  installedAt: z.iso.datetime(),
});

/** One installed skill. */
export type SkillRecord = z.output<typeof skillRecord>;

const SUFFIX = '.json';

/** Folder of everything about skills. */
export function skillsDir(state: string): string {
  return join(state, 'skills');
}

/** Folder of the records. */
export function recordsDir(state: string): string {
  return join(skillsDir(state), 'installed');
}

/** File name of a record, without its suffix: the same skill in the same scope has the same one. */
export function recordKey(scope: SkillScope, name: string): string {
  if (scope.scope === 'user') return `user-${name}`;
  return `project-${createHash('sha256').update(scope.root).digest('hex').slice(0, 32)}-${name}`;
}

/** The scope of a record. */
export function scopeOf({ scope, root }: Pick<SkillRecord, 'scope' | 'root'>): SkillScope {
  return scope === 'user' || root === undefined ? { scope: 'user' } : { scope: 'project', root };
}

/**
 * Every installed skill, sorted by name, then scope and project. Read-only: nothing is repaired.
 * @throws Error naming the file when one is damaged or of a later version
 */
export async function readRecords(state: string): Promise<readonly SkillRecord[]> {
  const files = await readdir(recordsDir(state)).catch(whenAbsent([]));
  const keys = files.filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.'));
  const records = await Promise.all(keys.map((file) => readRecord(state, file.slice(0, -SUFFIX.length))));
  return records.filter((record) => record !== undefined).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ name, scope, root = '' }: SkillRecord): string {
  return [name, scope === 'user' ? '0' : '1', root].join('\0');
}

/** One record; `undefined` when there is none. @throws Error as {@link readRecords} */
export async function readRecord(state: string, key: string): Promise<SkillRecord | undefined> {
  const path = join(recordsDir(state), `${key}${SUFFIX}`);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause instanceof SyntaxError ? new Error(`${path} is not JSON`) : cause;
  }
  const read = skillRecord.safeParse(value);
  if (read.success) return read.data;
  throw new Error(`${path} is not valid: ${explainIssues('', skillRecord, read.error).join('; ')}`);
}

/** Writes a record, or removes it. Only inside a change, which reverts it. */
export async function writeRecord(state: string, key: string, record: SkillRecord | undefined): Promise<void> {
  const folder = recordsDir(state);
  const path = join(folder, `${key}${SUFFIX}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (record !== undefined) return atomicWrite(path, `${JSON.stringify(record, undefined, 2)}\n`);
  await rm(path, { force: true });
  await syncFolder(folder);
}
