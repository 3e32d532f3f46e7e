import type { Backend } from '@toolmgr/core';
import type { ClientFile } from './client-file.ts';
import { ownEntry } from './own-entry.ts';

/**
 * Joins the servers of several files. A server that an earlier file has too (the same command or URL) is left out with a note,
 * and so is toolmgr itself. Names that several files use get a number.
 *
 * Shape: `port` is the one at which this gateway listens; notes begin with the file when there are several.
 */
export function joinFiles(
  files: readonly { readonly file: string; readonly read: ClientFile }[],
  port: number | undefined,
): ClientFile {
  const backends: Backend[] = [];
  const headers = new Map<string, Readonly<Record<string, string>>>();
  const notes: string[] = [];
  const known = new Map<string, string>();
  const names = new Set<string>();
  for (const { file, read } of files) {
    const say = (note: string): void => void notes.push(files.length > 1 ? `${file}: ${note}` : note);
    for (const note of read.notes) say(note);
    for (const backend of read.backends) {
      const own = ownEntry(backend, port);
      const key = identityOf(backend);
      const first = known.get(key);
      if (own !== undefined) say(`${backend.name}: left out, ${own}`);
      else if (first !== undefined && files.length > 1) say(`${backend.name}: left out, ${first} is the same server`);
      else {
        const name = freeName(backend.name, names);
        known.set(key, name);
        names.add(name);
        backends.push({ ...backend, name });
        const given = read.headers.get(backend.name);
        if (given !== undefined) headers.set(name, given);
      }
    }
  }
  return { backends, headers, notes };
}

function identityOf({ command, url }: Backend): string {
  return JSON.stringify(command === undefined ? url : [command.file, command.args]);
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
  return free;
}
