import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { contentDigest, type SkillFile } from '../artifact/artifact.ts';
import { type FolderPlace, type HeldFolder, holdFolder, missing, UnsafeFolder } from './held-folder.ts';

/** What a change does in one skill folder of a client. */
export interface FolderStep extends FolderPlace {
  /** Name of the skill. */
  readonly name: string;
  readonly action: 'put' | 'remove';
  /** Whether a folder of this name may be there already. */
  readonly replaces: boolean;
}

/** A folder with the name of the skill is there, and the change does not replace it. */
export class FolderInTheWay extends Error {
  override readonly name = 'FolderInTheWay';
}

/** Depth two below the client's folder, so that clients do not take staged files for a skill. */
const stagingName = (id: string): string => `.toolmgr-${id}`;

/** Writes the files of a skill beside its folder. */
export async function stageFolder(id: string, step: FolderStep, files: readonly SkillFile[]): Promise<void> {
  await withFolder(step, true, async (held) => {
    const staging = join(held.path, stagingName(id));
    await mkdir(staging, { mode: 0o750 }).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EEXIST') throw cause;
    });
    if (step.action === 'remove') return;
    const target = join(staging, `${step.name}.new`);
    await mkdir(target, { mode: 0o750 });
    for (const { path, content, mode } of files) {
      const parts = safeParts(path);
      if (parts.length > 1) await mkdir(join(target, ...parts.slice(0, -1)), { recursive: true, mode: 0o750 });
      const file = await open(join(target, ...parts), 'wx', mode & 0o644);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
    }
  });
}

/** Puts the staged folder in place, or the old one aside. */
export async function applyFolder(id: string, step: FolderStep): Promise<void> {
  await withFolder(step, true, async (held) => {
    const { target, staged, aside } = pathsOf(id, step, held);
    const found = await lstat(target).catch(missing);
    if (found !== undefined && !step.replaces)
      throw new FolderInTheWay(`${join(held.shown, step.name)} exists and was not installed by toolmgr`);
    if (found !== undefined) await rename(target, aside);
    if (step.action === 'put') await rename(staged, target);
  });
}

/** Reverts {@link applyFolder}, complete or not. Doing it again changes nothing. */
export async function revertFolder(id: string, step: FolderStep): Promise<void> {
  await withFolder(step, false, async (held) => {
    const { staging, target, staged, aside } = pathsOf(id, step, held);
    if ((await lstat(staging).catch(missing)) === undefined) return;
    const isPut = step.action === 'put' && (await lstat(staged).catch(missing)) === undefined;
    if (isPut && (await lstat(target).catch(missing)) !== undefined) await rename(target, staged);
    const isAside = (await lstat(aside).catch(missing)) !== undefined;
    if (isAside && (await lstat(target).catch(missing)) === undefined) await rename(aside, target);
  });
}

/** Removes what a change staged or put aside. */
export async function sweepFolder(id: string, step: FolderPlace): Promise<void> {
  await withFolder(step, false, (held) => rm(join(held.path, stagingName(id)), { recursive: true, force: true }));
}

/**
 * What is at the place of a skill: nothing, something under a name that differs in case only, or an entry. `contentDigest` is
 * absent when the entry is not a folder of plain files.
 */
export type FoundSkill =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'other-case'; readonly path: string }
  | { readonly kind: 'entry'; readonly path: string; readonly contentDigest?: string };

/** Reads the folder of a skill. @throws UnsafeFolder when the client's folder is a link */
export async function readSkillFolder(place: FolderPlace, name: string): Promise<FoundSkill> {
  const found = await withFolder(place, false, async (held): Promise<FoundSkill> => {
    const path = join(held.shown, name);
    const names = await readdir(held.path);
    const stat = await lstat(join(held.path, name)).catch(missing);
    const other = names.find((given) => given !== name && given.toLowerCase() === name);
    if (other !== undefined && !names.includes(name)) return { kind: 'other-case', path: join(held.shown, other) };
    if (stat === undefined) return { kind: 'nothing' };
    const files = stat.isDirectory() ? await readFiles(join(held.path, name)) : undefined;
    return { kind: 'entry', path, ...(files === undefined ? {} : { contentDigest: contentDigest(files) }) };
  });
  return found ?? { kind: 'nothing' };
}

const MAX_FILES = 2_000;
const MAX_BYTES = 600 * 1024 * 1024;

/** Plain files of a folder; `undefined` when there are links or other kinds of files, or far more than a skill may have. */
async function readFiles(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  if (files.length > MAX_FILES || files.some((entry) => !entry.isFile())) return undefined;
  const read: { path: string; content: Buffer }[] = [];
  let bytes = 0;
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name);
    const file = await open(path, 'r');
    try {
      bytes += (await file.stat()).size;
      if (bytes > MAX_BYTES) return undefined;
      read.push({
        path: path.slice(folder.length + 1).replaceAll('\\', posix.sep),
        content: await file.readFile(),
      });
    } finally {
      await file.close();
    }
  }
  return read;
}

function pathsOf(id: string, { name }: FolderStep, held: HeldFolder) {
  const staging = join(held.path, stagingName(id));
  return {
    staging,
    target: join(held.path, name),
    staged: join(staging, `${name}.new`),
    aside: join(staging, `${name}.old`),
  };
}

/** Reading checks these paths too; here because a mistake there must not write anywhere. */
function safeParts(path: string): readonly string[] {
  const parts = path.split('/');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL ends a path
  if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\\\u0000]/.test(part)))
    throw new Error(`${JSON.stringify(path)} is not a path in a skill`);
  return parts;
}

async function withFolder<T>(
  place: FolderPlace,
  create: boolean,
  use: (held: HeldFolder) => Promise<T>,
): Promise<T | undefined> {
  const held = await holdFolder(place, { create });
  if (held === undefined) {
    if (create) throw new UnsafeFolder(`${join(place.base, ...place.segments)} does not exist`);
    return undefined;
  }
  try {
    return await use(held);
  } finally {
    await held.close();
  }
}
