import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Name of the file of checksums. */
export const CHECKSUMS = 'SHA256SUMS';

/** A file of the release and its SHA-256, hexadecimal. */
export interface Checksum {
  readonly name: string;
  readonly sha256: string;
}

/** The checksums of all files of a folder, by name. */
export async function checksumsOf(folder: string): Promise<readonly Checksum[]> {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== CHECKSUMS)
    .map(({ name }) => name)
    .sort();
  const sums: Checksum[] = [];
  for (const name of names) sums.push({ name, sha256: await sha256Of(join(folder, name)) });
  return sums;
}

/** Writes checksums as `sha256sum --check` reads them. @returns the path of the file */
export function writeChecksums(folder: string, sums: readonly Checksum[]): string {
  const file = join(folder, CHECKSUMS);
  writeFileSync(file, sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
  return file;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
