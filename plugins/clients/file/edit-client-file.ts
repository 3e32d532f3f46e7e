import { setTimeout as sleep } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { backUp } from './backup-client-file.ts';
import { type ClientFile, ClientFileError, readClientFile } from './read-client-file.ts';
import { type Replaced, replaceClientFile } from './replace-client-file.ts';

/** What an edit wants to do with the text of a file; `text: undefined` removes the file, no `text` member leaves it. */
export interface TextChange<Result> {
  readonly text?: string | undefined;
  readonly result: Result;
}

/** The text cannot be edited now: perhaps a program is writing it. It is read again a few times. */
export class UnreadableText extends ClientFileError {}

/** An edit that was carried out. */
export interface EditedFile<Result> {
  readonly path: string;
  readonly result: Result;
  readonly isNew: boolean;
  readonly madeFolder?: string;
}

/** How a file is edited. */
export interface EditOptions {
  readonly nowMs: () => number;
  /** Plans only when false. */
  readonly writes?: boolean;
  /** Copies the file first. Default: true. */
  readonly backsUp?: boolean;
}

/**
 * Reads a file, edits its text and writes it, again and again while other programs change it. The edit gets the text without
 * the byte order mark; it must have no other effect, because it runs again.
 * @throws ClientFileError
 */
export async function editClientFile<Result>(
  path: string,
  edit: (text: string, isNew: boolean) => TextChange<Result>,
  options: EditOptions,
): Promise<EditedFile<Result>> {
  let unreadable: UnreadableText | undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    if (tries > 0) await sleep(Math.min(10 * tries, 100));
    const file = await readClientFile(path);
    const isNew = file.found === undefined;
    const { mark, text } = decoded(path, file);
    let change: TextChange<Result>;
    try {
      change = edit(text, isNew);
    } catch (cause) {
      if (!(cause instanceof UnreadableText)) throw cause;
      unreadable = cause;
      if (tries < UNREADABLE_TRIES && isRecent(file, options.nowMs())) continue;
      throw cause;
    }
    const done = { path: file.path, result: change.result, isNew };
    if (options.writes === false || !('text' in change) || change.text === (isNew ? undefined : text)) return done;
    if (options.backsUp !== false)
      await backUp(file, options.nowMs()).catch((cause: NodeJS.ErrnoException) => {
        throw new ClientFileError(`no backup of ${path} can be written (${cause.code})`);
      });
    const fresh = change.text === undefined ? undefined : mark + change.text;
    const replaced: Replaced = await replaceClientFile(file, fresh);
    if (replaced.kind === 'written')
      return { ...done, ...(replaced.madeFolder === undefined ? {} : { madeFolder: replaced.madeFolder }) };
  }
  throw unreadable ?? new ClientFileError(`${path} is changed by another program all the time: try again`);
}

/** A file that was changed a moment ago may be half written. */
function isRecent({ found }: ClientFile, nowMs: number): boolean {
  return found !== undefined && nowMs - found.mtimeMs < RECENT_MS;
}

function decoded(path: string, { found }: ClientFile): { readonly mark: string; readonly text: string } {
  if (found === undefined) return { mark: '', text: '' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(found.bytes);
    return text.startsWith(MARK) ? { mark: MARK, text: text.slice(1) } : { mark: '', text };
  } catch {
    throw new ClientFileError(`${path} is not UTF-8 text: it is not changed`);
  }
}

const MARK = '\uFEFF';
const TRIES = 60;
const UNREADABLE_TRIES = 20;
const RECENT_MS = 2_000;
