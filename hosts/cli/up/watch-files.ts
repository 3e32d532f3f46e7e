import type { ClientFile } from '../../client-files/client-file.ts';
import type { FoundFile } from '../../client-files/find-file.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { stderr } from '../../shared/terminal.ts';
import { watchText } from '../../shared/watch-text.ts';

/** What happens to changed files. */
export interface FollowedFiles {
  /** Reads all files from their texts. */
  read(): Promise<ClientFile>;
  /** @throws UsageError when the user does not agree to the change of `file` */
  agree(file: WatchedFile, next: ClientFile): Promise<void>;
  replace(next: ClientFile): void;
}

/** Serves the changed content of any of the files. One change is followed at a time: it may wait for an answer of the user. */
export function watchFiles(files: readonly WatchedFile[], followed: FollowedFiles, signal: AbortSignal): void {
  let previous = Promise.resolve();
  for (const one of files) {
    let latest = one.text;
    const changed = (text: string): void => {
      latest = text;
      previous = previous.then(async () => {
        if (latest !== text || signal.aborted) return; // it has changed again
        const before = one.text;
        one.text = text;
        if (!(await follow(one, followed, signal))) one.text = before;
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

async function follow(file: WatchedFile, followed: FollowedFiles, signal: AbortSignal): Promise<boolean> {
  try {
    const next = await followed.read();
    for (const note of next.notes) stderr.line(`${stderr.yellow('note')} ${oneLine(note)}`);
    await followed.agree(file, next);
    if (signal.aborted) return false;
    followed.replace(next);
    stderr.line(`changed: now ${next.backends.map(({ name }) => name).join(', ') || 'no server'}`);
    return true;
  } catch (cause) {
    if (signal.aborted) return false;
    const why = cause instanceof Error ? cause.message : String(cause);
    stderr.line(`${stderr.yellow('not used')} ${why}; the previous servers stay`);
    return false;
  }
}
