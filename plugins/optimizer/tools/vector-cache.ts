import { createHash, hash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join } from 'node:path';
import { explainCause, type Log } from '@toolmgr/core';

/** A persistent cache of vectors by text. */
export interface VectorCache {
  get(text: string): Float32Array | undefined;
  /** Ignores a vector with other dimensions than earlier ones. */
  set(text: string, vector: Float32Array): void;
  /** Dimensions of the vectors; `undefined` while there are none. */
  dimensions(): number | undefined;
  clear(): void;
  /** Writes the cache to disk. Never rejects: on an error the log warns, and the next start embeds again. */
  save(): Promise<void>;
}

const FORMAT = 1;
const MAGIC = Buffer.from(`toolmgr vectors ${FORMAT} ${endianness()}\n`);
const DIGEST = 32;
/** Magic, dimensions, count, SHA-256 of the records. */
const HEAD = MAGIC.length + 4 + 4 + DIGEST;
/** In memory and on disk: 40,000 vectors of 384 numbers, 10,000 of 1,536. */
const MAX_BYTES = 64 * 1024 * 1024;
const BLOCK_BYTES = 256 * 1024;
const MAX_FILES = 8; // one per model; the oldest are deleted
const SUFFIX = '.vectors';
const MAX_INCOMPLETE_AGE_MS = 60 * 60 * 1000;

/**
 * Opens the cache of one model.
 *
 * Shape: `{folder}/{hash of the identity}.vectors`, mode 0600 in a folder of mode 0700, replaced by renaming. An
 * incomplete, unknown or too large file is ignored. Keys are SHA-256 of format, identity and text.
 */
export async function openVectorCache(parts: {
  readonly folder: string;
  readonly identity: string;
  readonly log: Log;
}): Promise<VectorCache> {
  const { folder, identity, log } = parts;
  const file = join(folder, `${hash('sha256', identity).slice(0, 16)}${SUFFIX}`);
  const vectors = await readVectors(file).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') {
      log.warn('the embedding cache cannot be read: tools are embedded again', { file, cause: explainCause(cause) });
    }
    return new Map<string, Float32Array>();
  });
  let dimensions = firstOf(vectors)?.length;
  let hasWarned = false;
  const keyOf = (text: string) => createHash('sha256').update(`${FORMAT}\0${identity}\0`).update(text).digest('binary');
  return {
    get: (text) => vectors.get(keyOf(text)),
    set(text, vector) {
      dimensions ??= vector.length;
      if (vector.length !== dimensions) return;
      const key = keyOf(text);
      vectors.delete(key); // most recent last
      vectors.set(key, vector);
      for (const oldest of vectors.keys()) {
        if (HEAD + vectors.size * recordBytes(dimensions) <= MAX_BYTES) break;
        vectors.delete(oldest);
      }
    },
    dimensions: () => dimensions,
    clear() {
      vectors.clear();
      dimensions = undefined;
    },
    async save() {
      try {
        await writeVectors(folder, file, vectors, dimensions ?? 0);
      } catch (cause) {
        if (!hasWarned) log.warn('the embedding cache cannot be written', { file, cause: explainCause(cause) });
        hasWarned = true;
      }
    },
  };
}

const recordBytes = (dimensions: number): number => DIGEST + dimensions * Float32Array.BYTES_PER_ELEMENT;

/** The size of a block of whole records. */
const blockBytes = (record: number): number => record * Math.max(1, Math.floor(BLOCK_BYTES / record));

function firstOf(vectors: ReadonlyMap<string, Float32Array>): Float32Array | undefined {
  return vectors.values().next().value;
}

/** @throws ENOENT when the file does not exist; Error for an invalid file */
async function readVectors(file: string): Promise<Map<string, Float32Array>> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    if (size > MAX_BYTES || size < HEAD) throw new Error(`invalid size of ${size} bytes`);
    return await readInBlocks(handle, size);
  } finally {
    await handle.close();
  }
}

/** Reads one block at a time, to keep memory low. */
async function readInBlocks(handle: FileHandle, size: number): Promise<Map<string, Float32Array>> {
  const head = Buffer.alloc(HEAD);
  await readWhole(handle, head, 0);
  const dimensions = head.readUInt32LE(MAGIC.length);
  const count = head.readUInt32LE(MAGIC.length + 4);
  const record = recordBytes(dimensions);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('unknown format');
  if (dimensions === 0 || size - HEAD !== count * record) throw new Error('incomplete file');
  const sum = createHash('sha256');
  const bytes = Buffer.allocUnsafe(blockBytes(record));
  const vectors = new Map<string, Float32Array>();
  for (let position = HEAD; position < size; position += bytes.length) {
    const block = bytes.subarray(0, Math.min(bytes.length, size - position));
    await readWhole(handle, block, position);
    sum.update(block);
    addRecords(block, record, vectors);
  }
  if (!sum.digest().equals(head.subarray(HEAD - DIGEST))) throw new Error('checksum mismatch');
  return vectors;
}

function addRecords(block: Buffer, record: number, vectors: Map<string, Float32Array>): void {
  const dimensions = (record - DIGEST) / Float32Array.BYTES_PER_ELEMENT;
  const numbers = new Float32Array((block.length / record) * dimensions);
  const bytes = Buffer.from(numbers.buffer);
  for (let at = 0, each = 0; at < block.length; at += record, each += 1) {
    bytes.set(block.subarray(at + DIGEST, at + record), each * (record - DIGEST));
    vectors.set(
      block.toString('latin1', at, at + DIGEST),
      numbers.subarray(each * dimensions, (each + 1) * dimensions),
    );
  }
}

async function readWhole(handle: FileHandle, into: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await handle.read(into, filled, into.length - filled, position + filled);
    if (bytesRead === 0) throw new Error('incomplete file');
    filled += bytesRead;
  }
}

async function writeVectors(
  folder: string,
  file: string,
  vectors: ReadonlyMap<string, Float32Array>,
  dimensions: number,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomUUID()}`;
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await writeInBlocks(handle, vectors, dimensions);
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (cause) {
    await rm(fresh, { force: true });
    throw cause;
  }
  await removeOldFiles(folder);
}

/** Writes one block at a time, to keep memory low. The head with the checksum is written last. */
async function writeInBlocks(
  handle: FileHandle,
  vectors: ReadonlyMap<string, Float32Array>,
  dimensions: number,
): Promise<void> {
  const size = recordBytes(dimensions);
  const block = Buffer.allocUnsafe(blockBytes(size));
  const sum = createHash('sha256');
  const records = [...vectors]; // later additions are written the next time
  let [position, filled] = [HEAD, 0];
  for (const [at, [key, vector]] of records.entries()) {
    block.write(key, filled, 'latin1');
    block.set(Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength), filled + DIGEST);
    filled += size;
    if (filled < block.length && at + 1 < records.length) continue;
    const full = block.subarray(0, filled);
    sum.update(full);
    await handle.write(full, 0, filled, position);
    position += filled;
    filled = 0;
  }
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(dimensions, 0);
  sizes.writeUInt32LE(records.length, 4);
  await handle.write(Buffer.concat([MAGIC, sizes, sum.digest()]), 0, HEAD, 0);
}

/** Deletes files of old models, and incomplete files of killed processes. */
async function removeOldFiles(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.includes(SUFFIX));
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      mtimeMs: await stat(join(folder, name)).then(
        (of) => of.mtimeMs,
        () => 0,
      ),
    })),
  );
  const whole = files.filter(({ name }) => name.endsWith(SUFFIX)).sort((a, b) => b.mtimeMs - a.mtimeMs);
  const youngest = whole[0]?.mtimeMs ?? 0;
  const incomplete = files.filter(
    ({ name, mtimeMs }) => !name.endsWith(SUFFIX) && youngest - mtimeMs > MAX_INCOMPLETE_AGE_MS,
  );
  await Promise.all(
    [...whole.slice(MAX_FILES), ...incomplete].map(({ name }) => rm(join(folder, name), { force: true })),
  );
}
