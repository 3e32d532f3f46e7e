import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { explainCause, explainIssues } from '@toolmgr/core';
import { type Document, isAlias, isMap, isSeq, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { graphProblem, type LockedSkill, lockedSkill } from './locked-skill.ts';

/** Name of the lock file in the root of a project. */
export const LOCK_FILE = 'toolmgr.lock.yaml';

/** The one version of the lock file. */
export const LOCK_VERSION = 1;

/** Maximum bytes of a lock file. */
export const MAX_LOCK_BYTES = 1024 * 1024;

const MAX_ENTRIES = 1_000;

const lockFile = z.looseObject({
  version: z.literal(LOCK_VERSION),
  // an empty key means an empty list, as in other YAML tools
  skills: z.array(lockedSkill).max(MAX_ENTRIES).nullish(),
});

/** The lock file of a project, or why it cannot be used. */
export type ReadLock =
  | {
      readonly skills: readonly LockedSkill[];
      readonly document: Document;
      /** Absent: there is no file. */
      readonly text?: string;
    }
  | { readonly problem: string };

/**
 * Reads the lock file of a project; a missing one has no entries. It is not followed when it is a link. `at`: where it is read,
 * when its folder is open already.
 */
export async function readLock(root: string, at = join(root, LOCK_FILE)): Promise<ReadLock> {
  const path = join(root, LOCK_FILE);
  try {
    const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return { problem: `${path} is not a file` };
      if (stat.size > MAX_LOCK_BYTES) return { problem: `${path} has more than ${MAX_LOCK_BYTES} bytes` };
      return parseLock(await file.readFile('utf8'), path);
    } finally {
      await file.close();
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return parseLock(undefined, path);
    if (code === 'ELOOP') return { problem: `${path} is a symbolic link, expected a file` };
    return { problem: `${path} cannot be read: ${explainCause(cause)}` };
  }
}

/** Reads the text of a lock file; a missing or empty one has no entries. Pure. */
export function parseLock(text: string | undefined, path: string): ReadLock {
  if (text === undefined || text.trim() === '') {
    const document = parseDocument(`version: ${LOCK_VERSION}\n`);
    return { skills: [], document, ...(text === undefined ? {} : { text }) };
  }
  try {
    const document = parseDocument(text, { merge: false });
    const fault = document.errors[0];
    if (fault !== undefined) return { problem: `${path} is not YAML: ${fault.message}` };
    if (hasAlias(document)) return { problem: `${path} has an alias of YAML (*name), which is not allowed` };
    return checkedLock(document, path, text);
  } catch (cause) {
    // a text that is nested too deep
    if (cause instanceof RangeError) return { problem: `${path} is nested too deep` };
    throw cause;
  }
}

function checkedLock(document: Document, path: string, text: string): ReadLock {
  const value: unknown = document.toJS();
  const version = isMap(document.contents) ? document.get('version') : undefined;
  if (isMap(document.contents) && version !== LOCK_VERSION) {
    return {
      problem: `${path} has version ${JSON.stringify(version) ?? 'none'}, and this toolmgr reads version ${LOCK_VERSION}: use the toolmgr that wrote it, or a newer one`,
    };
  }
  const read = lockFile.safeParse(value);
  if (!read.success) return { problem: `${path}: ${explainIssues('', lockFile, read.error).join('; ')}` };
  const skills = read.data.skills ?? [];
  const problem = graphProblem(skills);
  return problem === undefined ? { skills, document, text } : { problem: `${path}: ${problem}` };
}

function hasAlias(document: Document): boolean {
  let found = false;
  visit(document, (_, node) => {
    if (!isAlias(node)) return undefined;
    found = true;
    return visit.BREAK;
  });
  return found;
}

/**
 * The text of a lock file with some entries changed; `undefined` removes one. Comments and unknown members stay, also those of
 * changed entries. `skills` is sorted by name.
 * @throws Error when the result would not be valid
 */
export function changedLock(
  { document }: { readonly document: Document },
  changes: ReadonlyMap<string, LockedSkill | undefined>,
): string {
  const changed = document.clone();
  const found = changed.get('skills');
  const list = isSeq(found) ? found : changed.createNode([]);
  if (list !== found) changed.set('skills', list);
  for (const [name, entry] of changes) {
    const at = list.items.findIndex((item) => isMap(item) && item.get('name') === name);
    const old = list.items[at];
    if (entry === undefined) {
      if (at >= 0) list.items.splice(at, 1);
    } else if (isMap(old)) {
      for (const key of KEYS) if (old.has(key) && entry[key] === undefined) old.delete(key);
      // a member that is not changed keeps its node, and so its comments
      const now = old.toJS(changed) as Readonly<Record<string, unknown>>;
      for (const [key, value] of membersOf(entry)) {
        if (JSON.stringify(now[key]) !== JSON.stringify(value)) old.set(key, changed.createNode(value));
      }
    } else {
      list.items.push(changed.createNode(Object.fromEntries(membersOf(entry))));
    }
  }
  list.items.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  list.flow = list.items.length === 0;
  const text = changed.toString({ lineWidth: 0 });
  const check = parseLock(text, LOCK_FILE);
  if ('problem' in check) throw new Error(check.problem);
  return text;
}

/** The known members in the order in which they are written. */
const KEYS = [
  'name',
  'version',
  'source',
  'resolvedReference',
  'digest',
  'contentDigest',
  'provenance',
  'unsigned',
  'explicit',
  'requiredBy',
] as const satisfies readonly (keyof LockedSkill)[];

function membersOf(entry: LockedSkill): readonly (readonly [string, unknown])[] {
  const known = KEYS.map((key) => [key, entry[key]] as const);
  const others = Object.entries(entry).filter(([key]) => !(KEYS as readonly string[]).includes(key));
  return [...known, ...others].filter(([, value]) => value !== undefined);
}

function nameOf(item: unknown): string {
  return isMap(item) ? String(item.get('name')) : '';
}
