import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** A log file that never grows past its bound. */
export interface LogFile {
  write(text: string | Buffer): void;
  close(): void;
}

/** Most bytes of a log file; twice that with its predecessor. */
export const LOG_FILE_BYTES = 5 * 1024 * 1024;

/**
 * Opens a log file for appending, mode 0600. A full one is copied to `PATH.1` and emptied.
 *
 * It is emptied in place, not renamed, because a child process may hold the same file as its output.
 * Fails: writing never throws, a full disk only loses lines.
 * @throws Error of the file system when it cannot be opened
 */
export function openLogFile(path: string, maxBytes = LOG_FILE_BYTES): LogFile {
  const file = openSync(path, 'a', 0o600);
  let open = true;
  return {
    write(text) {
      if (!open) return;
      try {
        if (fstatSync(file).size >= maxBytes) {
          copyFileSync(path, `${path}.1`);
          ftruncateSync(file, 0);
        }
        writeSync(file, text as string);
      } catch {
        // a log that cannot be written must not stop what it tells about
      }
    },
    close() {
      if (open) closeSync(file);
      open = false;
    },
  };
}
