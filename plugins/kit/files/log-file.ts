import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** A log file with a maximum size. */
export interface LogFile {
  write(text: string | Buffer): void;
  close(): void;
}

/** Maximum bytes of a log file; its predecessor takes as many again. */
export const LOG_FILE_BYTES = 5 * 1024 * 1024;

/**
 * Opens a log file for appending, mode 0600. A full one is copied to `PATH.1` and emptied.
 *
 * It is truncated, not renamed, because a child process may have the same file open.
 * Writing never throws; a full disk loses lines.
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
        // an error of the log must not stop the workload
      }
    },
    close() {
      if (open) closeSync(file);
      open = false;
    },
  };
}
