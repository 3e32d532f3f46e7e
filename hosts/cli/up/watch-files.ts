import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { stderr } from '../../shared/terminal.ts';
import { watchText } from '../../shared/watch-text.ts';
import type { ClientFile } from './client-file.ts';
import type { FoundFile } from './find-file.ts';

/** Serves the changed content of any of the files. */
export function watchFiles(
  files: readonly WatchedFile[],
  read: () => Promise<ClientFile>,
  replace: (file: ClientFile) => void,
  signal: AbortSignal,
): void {
  for (const one of files) {
    const changed = (text: string): void => {
      const before = one.text;
      one.text = text;
      void follow(read, replace).then((isUsed) => {
        if (!isUsed && one.text === text) one.text = before;
      });
    };
    watchText(one.file, one.text, changed, signal);
  }
}

/** A served file, with the content that is served. */
export interface WatchedFile extends FoundFile {
  text: string;
  /** It was found in the working folder; the user did not name it. */
  readonly isOfProject: boolean;
}

async function follow(read: () => Promise<ClientFile>, replace: (file: ClientFile) => void): Promise<boolean> {
  try {
    const next = await read();
    for (const note of next.notes) stderr.line(`${stderr.yellow('note')} ${oneLine(note)}`);
    replace(next);
    stderr.line(`changed: now ${next.backends.map(({ name }) => name).join(', ') || 'no server'}`);
    return true;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    stderr.line(`${stderr.yellow('not used')} ${why}; the previous servers stay`);
    return false;
  }
}
