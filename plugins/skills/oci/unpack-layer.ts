import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Extract } from 'tar-stream';
import type { SkillFile } from '../artifact/artifact.ts';
import { isHidden, pathProblem, pathRegister } from '../files/file-paths.ts';
import { LIMITS } from '../limits.ts';

/** The files of a layer, or why it is refused. */
export type Unpacked = { readonly files: readonly SkillFile[] } | { readonly refused: string };

/**
 * Extracts a layer in memory: only plain files and folders, with names that are safe on every system, within the limits of an
 * installation. Hidden files are left out.
 *
 * Source: reference workload-api §5.2.
 * @throws the reason of `signal`
 */
export async function unpackLayer(layer: Buffer, signal: AbortSignal): Promise<Unpacked> {
  if (layer.length > LIMITS.layerBytes)
    return { refused: `the layer is larger than ${LIMITS.layerBytes / 1024 ** 2} MB` };
  const { extract: extractTar } = await import('tar-stream'); // optional: a manager without it starts
  const extract = extractTar();
  const fed = pipeline(Readable.from(pieces(layer)), createGunzip(), bounded(layer.length), extract, { signal });
  const failure = fed.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  try {
    const files = await filesIn(extract);
    const cause = await failure;
    if (cause !== undefined) throw cause;
    return { files };
  } catch (cause) {
    extract.destroy();
    const first = (await failure) ?? cause;
    signal.throwIfAborted();
    const refused = [cause, first].find((each) => each instanceof Refused);
    if (refused !== undefined) return { refused: refused.message };
    return { refused: `the layer is not a complete tar archive with gzip (${messageOf(first)})` };
  }
}

const PIECE = 64 * 1024;

function* pieces(layer: Buffer): Generator<Buffer> {
  for (let start = 0; start < layer.length; start += PIECE) yield layer.subarray(start, start + PIECE);
}

type Entry = Extract extends AsyncIterable<infer Each> ? Each : never;

class Refused extends Error {}

/** Counts the extracted bytes before the archive is read. */
function bounded(compressed: number) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > LIMITS.extractedBytes + LIMITS.archiveHeaderBytes) throw tooLarge();
      if (bytes > LIMITS.ratioFromBytes && bytes > compressed * LIMITS.ratio)
        throw new Refused(`the layer extracts to more than ${LIMITS.ratio} times its size`);
      yield chunk;
    }
  };
}

async function filesIn(entries: AsyncIterable<Entry>): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = [];
  const register = pathRegister();
  const folders = new Set<string>();
  let count = 0;
  let total = 0;
  for await (const entry of entries) {
    if (++count > LIMITS.entries) throw new Refused(`the archive has more than ${LIMITS.entries} entries`);
    const { path, isFolder, size } = checkedHeader(entry);
    if (isFolder) {
      if (path !== '') folders.add(path);
      entry.resume();
      continue;
    }
    const problem = register.add(path);
    if (problem !== undefined) throw new Refused(problem);
    total += size;
    if (total > LIMITS.extractedBytes) throw tooLarge();
    if (isHidden(path)) {
      entry.resume();
      continue;
    }
    if (files.length === LIMITS.files) throw new Refused(`the archive has more than ${LIMITS.files} files`);
    files.push({ path, size, mode: (entry.header.mode ?? 0o644) & 0o644, content: await contentOf(entry, size) });
  }
  const both = files.find(({ path }) => folders.has(path));
  if (both !== undefined) throw new Refused(`the path ${JSON.stringify(both.path)} is a file and a folder`);
  return files;
}

function checkedHeader({ header }: Entry): {
  readonly path: string;
  readonly isFolder: boolean;
  readonly size: number;
} {
  const shown = JSON.stringify(header.name.slice(0, LIMITS.nameBytes));
  const { size = 0 } = header;
  const isFolder = header.type === 'directory';
  if (!isFolder && header.type !== 'file') {
    throw new Refused(`the archive has ${shown}, which is ${KINDS[header.type ?? ''] ?? 'of an unknown kind'}`);
  }
  if (Object.keys(header.pax ?? {}).some((key) => /^(GNU\.sparse|linkpath)/.test(key)))
    throw new Refused(`the archive has ${shown}, which is a sparse file or link`);
  if (header.linkname) throw new Refused(`the archive has ${shown}, which is a link`);
  if (!Number.isSafeInteger(size) || size < 0 || (isFolder && size > 0))
    throw new Refused(`the archive has ${shown} with a wrong size`);
  if (size > LIMITS.fileBytes) throw new Refused(`the file ${shown} is larger than ${LIMITS.fileBytes / 1024 ** 2} MB`);
  const path = header.name.replace(/^\.\//, '');
  const plain = isFolder ? path.replace(/\/$/, '') : path;
  if (isFolder && (plain === '' || plain === '.')) return { path: '', isFolder, size: 0 };
  const problem = pathProblem(plain);
  if (problem !== undefined) throw new Refused(problem);
  return { path: plain, isFolder, size };
}

const KINDS: Readonly<Record<string, string>> = {
  link: 'a hard link',
  symlink: 'a symbolic link',
  'character-device': 'a device',
  'block-device': 'a device',
  fifo: 'a named pipe',
};

async function contentOf(entry: Entry, size: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of entry as AsyncIterable<Buffer>) {
    chunk.copy(content, filled);
    filled += chunk.length;
  }
  if (filled !== size) throw new Refused('the archive ends inside a file');
  return content;
}

function tooLarge(): Refused {
  return new Refused(`the layer extracts to more than ${LIMITS.extractedBytes / 1024 ** 2} MB`);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
}
