import { LIMITS } from '../limits.ts';

/** Control characters, characters that Windows forbids, marks that change the direction of text, and undecodable bytes. */
const FORBIDDEN = /[\p{Cc}\p{Cs}<>:"|?*\\\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/u;
/** Names of devices on Windows, also with an extension. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
/** `.git` and the forms of it that file systems treat as the same name. */
const GIT_FOLDER = /^\.?git(~\d+)?$/i;

/**
 * Why a path of a file cannot be part of a skill on every system; `undefined` when it can. A message quotes the path as JSON.
 *
 * Shape: relative, separated by `/`.
 */
export function pathProblem(path: string): string | undefined {
  const shown = JSON.stringify(path.slice(0, LIMITS.nameBytes));
  if (path === '') return 'a file has no name';
  if (Buffer.byteLength(path) > LIMITS.pathBytes) return `the path ${shown} is longer than ${LIMITS.pathBytes} bytes`;
  if (/^([/\\]|[A-Za-z]:)/.test(path)) return `the path ${shown} is absolute`;
  const parts = path.split('/');
  if (parts.length > LIMITS.depth) return `the path ${shown} has more than ${LIMITS.depth} folders`;
  if (parts.includes('..')) return `the path ${shown} leads out of the skill`;
  for (const part of parts) {
    if (part === '' || part === '.') return `the path ${shown} has an empty part`;
    if (Buffer.byteLength(part) > LIMITS.nameBytes)
      return `the path ${shown} has a name of more than ${LIMITS.nameBytes} bytes`;
    if (FORBIDDEN.test(part)) return `the path ${shown} has a character that is not allowed in names`;
    if (/[. ]$/.test(part)) return `the path ${shown} has a name that ends with a dot or space`;
    if (DEVICE.test(part)) return `the path ${shown} has a name that is reserved on Windows`;
    if (GIT_FOLDER.test(part) && part.toLowerCase() !== 'git') return `the path ${shown} is inside a git folder`;
  }
  return undefined;
}

/** Whether a file is hidden: hidden files are no part of a skill. */
export function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'));
}

/** Refuses paths that are the same file, or a file and a folder, on a file system without case or with Unicode normalization. */
export function pathRegister(): { add(path: string): string | undefined } {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  return {
    add(path) {
      const key = foldedPath(path);
      const shown = JSON.stringify(path);
      const other = files.get(key);
      if (other !== undefined) {
        return other === path
          ? `the path ${shown} is there twice`
          : `the paths ${JSON.stringify(other)} and ${shown} differ only in case or Unicode form`;
      }
      if (folders.has(key)) return `the path ${shown} is a file and a folder`;
      const parts = path.split('/');
      for (let count = 1; count < parts.length; count++) {
        const folder = parts.slice(0, count).join('/');
        const folderKey = foldedPath(folder);
        const same = folders.get(folderKey);
        if (same !== undefined && same !== folder)
          return `the folders ${JSON.stringify(same)} and ${JSON.stringify(folder)} differ only in case or Unicode form`;
        if (files.has(folderKey)) return `the path ${JSON.stringify(folder)} is a file and a folder`;
        folders.set(folderKey, folder);
      }
      files.set(key, path);
      return undefined;
    },
  };
}

function foldedPath(path: string): string {
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
