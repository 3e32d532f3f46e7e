const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'a file or folder is not accessible',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'a file would be larger than the limit of this process',
  EIO: 'the disk failed',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

/** What the user must change before a file can be written, with the path when the system names it; `undefined` for other faults. */
export function storageFault(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  // EACCES also comes from `listen` and `connect`, which have no path
  const words = code === undefined || (code === 'EACCES' && !hasPath(cause)) ? undefined : WORDS[code];
  if (words !== undefined && syscall !== undefined) return `${words} (${cause.message})`;
  return storageFault(cause.cause);
}

function hasPath(cause: Error): boolean {
  return (cause as NodeJS.ErrnoException).path !== undefined;
}
