import { StringDecoder } from 'node:string_decoder';
import { openLogFile } from '../../files/log-file.ts';

/** The output of a program: the last part in memory, and all of it in an optional, bounded file. */
export interface Output {
  add(chunk: Buffer): void;
  /** Adds a line of toolmgr to the output. */
  note(text: string): void;
  /** The last complete lines. */
  tail(): string;
  close(): void;
}

/** Bytes of output kept in memory per workload. */
export const TAIL_BYTES = 64 * 1024;

/** @throws Error of the file system when the log file cannot be opened */
export function createOutput(logFile: string | undefined, maxBytes = TAIL_BYTES): Output {
  const file = logFile === undefined ? undefined : openLogFile(logFile);
  const decoder = new StringDecoder('utf8');
  let text = '';
  let isCut = false;
  const keep = (more: string): void => {
    text += more;
    // cuts rarely, because each cut copies the text
    if (text.length > 2 * maxBytes) cut();
  };
  const cut = (): void => {
    text = text.slice(-maxBytes);
    isCut = true;
  };
  return {
    add(chunk) {
      file?.write(chunk);
      keep(decoder.write(chunk));
    },
    note(line) {
      file?.write(`${line}\n`);
      keep(`${line}\n`);
    },
    tail() {
      if (text.length > maxBytes) cut();
      return isCut ? text.slice(text.indexOf('\n') + 1) : text;
    },
    close: () => file?.close(),
  };
}
