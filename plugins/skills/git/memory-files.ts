import { checkPack } from './check-pack.ts';

/**
 * Files in memory for isomorphic-git: nothing of a repository is on disk, so nothing stays when the process is killed. A pack is
 * checked when it is written, before it is read.
 */
export function memoryFiles() {
  const files = new Map<string, Buffer>();
  const plain = (path: string): string => path.replace(/\/+/g, '/').replace(/\/$/, '');
  const isFolder = (path: string): boolean => [...files.keys()].some((each) => each.startsWith(`${path}/`));
  const stat = async (given: string) => {
    const path = plain(given);
    const file = files.get(path);
    if (file === undefined && !isFolder(path)) throw missing(path);
    return {
      isFile: () => file !== undefined,
      isDirectory: () => file === undefined,
      isSymbolicLink: () => false,
      size: file?.length ?? 0,
      mode: file === undefined ? 0o40755 : 0o100644,
      ctimeMs: 0,
      mtimeMs: 0,
      dev: 0,
      ino: 0,
      uid: 0,
      gid: 0,
    };
  };
  const promises = {
    stat,
    lstat: stat,
    async readFile(given = '', options?: string | { readonly encoding?: string }) {
      const file = files.get(plain(given));
      if (file === undefined) throw missing(given);
      const encoding = typeof options === 'string' ? options : options?.encoding;
      return encoding === 'utf8' ? file.toString('utf8') : file;
    },
    async writeFile(given: string, content: string | Uint8Array) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
      if (given.endsWith('.pack')) checkPack(bytes);
      files.set(plain(given), bytes);
    },
    async readdir(given: string) {
      const path = plain(given);
      if (!isFolder(path)) throw missing(path);
      const inside = [...files.keys()].filter((each) => each.startsWith(`${path}/`));
      return [...new Set(inside.map((each) => each.slice(path.length + 1).split('/')[0] ?? ''))];
    },
    async unlink(given: string) {
      files.delete(plain(given));
    },
    async mkdir() {},
    async rmdir() {},
    async readlink(given: string): Promise<string> {
      throw missing(given);
    },
    async symlink(): Promise<void> {
      throw new Error('there are no links');
    },
  };
  return { promises };
}

function missing(path: string): Error {
  return Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
}
