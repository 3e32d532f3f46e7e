import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';

/** An archive of a folder, as `main.cjs` unpacks it. Sizes in bytes. */
export interface TreeArchive {
  /** SHA-256 of the uncompressed archive, hexadecimal. Equal trees have equal hashes. */
  readonly hash: string;
  readonly files: number;
  readonly unpackedSize: number;
  readonly size: number;
}

/**
 * Writes the files of a folder into one compressed file: length of the index (4 bytes, big endian), the index
 * (`[path, size, isProgram][]` as JSON) and the contents, compressed by zstd.
 *
 * @param level zstd's, 1 to 22
 * @throws Error for a symbolic link, which Windows could not unpack
 */
export function writeTreeArchive(root: string, file: string, level = LEVEL): TreeArchive {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) throw new Error(`${path} is not a file`);
      return path;
    })
    .sort();
  const contents = paths.map((path) => readFileSync(path));
  const index = paths.map((path, at) => [
    relative(root, path).replaceAll(sep, '/'),
    contents[at]?.length ?? 0,
    (statSync(path).mode & 0o100) !== 0,
  ]);
  const text = Buffer.from(JSON.stringify(index));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const whole = Buffer.concat([length, text, ...contents]);
  const compressed = zstdCompressSync(whole, { params: { [constants.ZSTD_c_compressionLevel]: level } });
  writeFileSync(file, compressed);
  return {
    hash: createHash('sha256').update(whole).digest('hex'),
    files: paths.length,
    unpackedSize: whole.length,
    size: compressed.length,
  };
}

const LEVEL = 17; // higher levels take twice the time for one percent
