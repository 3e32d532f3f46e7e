import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { SkillFile } from '../artifact/artifact.ts';
import { LIMITS } from '../limits.ts';
import { isHidden, pathProblem, pathRegister } from './file-paths.ts';

/** The files of a folder, or everything that is wrong with them. */
export type FolderReading = { readonly files: readonly SkillFile[] } | { readonly errors: readonly string[] };

/** Why a path of a folder is not accepted at all; `undefined` when it is. Source: reference workload-api §2.4. */
export function folderPathProblem(path: string): string | undefined {
  if (path.includes('\0')) return 'the path has a NUL character';
  if (!isAbsolute(path)) return 'the path is not absolute';
  return path.split(/[/\\]/).includes('..') ? 'the path has a part ..' : undefined;
}

/**
 * Reads the files of a skill in a folder: `SKILL.md` first, then sorted. Hidden files are left out; links and special files are
 * errors. `maxBytes` is the limit of all files together.
 */
export async function readFolder(root: string, maxBytes: number): Promise<FolderReading> {
  const errors: string[] = [];
  const files: SkillFile[] = [];
  const register = pathRegister();
  let entries = 0;
  let bytes = 0;
  const walk = async (folder: string): Promise<void> => {
    const inside: { readonly path: string; readonly isFolder: boolean }[] = [];
    for await (const entry of await opendir(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (++entries > LIMITS.entries) throw new TooMuch(`the folder has more than ${LIMITS.entries} entries`);
      if (entry.isSymbolicLink()) errors.push(`${JSON.stringify(path)} is a symbolic link`);
      else if (isHidden(path)) continue;
      else if (!entry.isDirectory() && !entry.isFile())
        errors.push(`${JSON.stringify(path)} is neither a file nor a folder`);
      else inside.push({ path, isFolder: entry.isDirectory() });
    }
    for (const { path, isFolder } of inside.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const problem = pathProblem(path) ?? (isFolder ? undefined : register.add(path));
      if (problem !== undefined) errors.push(problem);
      else if (isFolder) await walk(path);
      else {
        if (files.length === LIMITS.files) throw new TooMuch(`the folder has more than ${LIMITS.files} files`);
        const file = await readPlainFile(join(root, path), path, maxBytes - bytes);
        if (typeof file === 'string') errors.push(file);
        else files.push(file);
        bytes += typeof file === 'string' ? 0 : file.size;
      }
    }
  };
  const problem = await rootProblem(root);
  if (problem !== undefined) return { errors: [problem] };
  try {
    await walk('');
  } catch (cause) {
    const { code, path } = cause as NodeJS.ErrnoException;
    if (cause instanceof TooMuch) errors.push(cause.message);
    // the folder was changed or may not be read
    else if (path?.startsWith(root) && /^(EACCES|ENOENT|ENOTDIR|ENAMETOOLONG)$/.test(code ?? ''))
      errors.push(`${JSON.stringify(path.slice(root.length + 1))} cannot be read (${code})`);
    else throw cause;
  }
  return errors.length > 0 ? { errors } : { files: inOrder(files) };
}

/** `SKILL.md` first, then sorted by path. */
export function inOrder(files: readonly SkillFile[]): readonly SkillFile[] {
  const rank = ({ path }: SkillFile): string => (path === 'SKILL.md' ? '' : path);
  return [...files].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

class TooMuch extends Error {}

async function rootProblem(root: string): Promise<string | undefined> {
  try {
    const stat = await lstat(root);
    if (stat.isSymbolicLink()) return 'the folder is a symbolic link';
    return stat.isDirectory() ? undefined : 'the path is not a folder';
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(code)) return 'there is no such folder';
    if (code === 'EACCES') return 'the folder cannot be read';
    throw cause;
  }
}

/** The size and the kind are those of the opened file: it may be replaced at any time. */
async function readPlainFile(path: string, shown: string, left: number): Promise<SkillFile | string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    return `${JSON.stringify(shown)} cannot be read (${(cause as NodeJS.ErrnoException).code})`;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return `${JSON.stringify(shown)} is neither a file nor a folder`;
    if (stat.size > LIMITS.fileBytes)
      return `${JSON.stringify(shown)} is larger than ${LIMITS.fileBytes / 1024 ** 2} MB`;
    if (stat.size > left) throw new TooMuch('the files are too large together');
    const content = Buffer.alloc(stat.size);
    let filled = 0;
    while (filled < content.length) {
      const { bytesRead } = await file.read(content, filled, content.length - filled);
      if (bytesRead === 0) return `${JSON.stringify(shown)} was changed while it was read`;
      filled += bytesRead;
    }
    return { path: shown, size: content.length, mode: stat.mode & 0o644, content };
  } finally {
    await file.close();
  }
}
