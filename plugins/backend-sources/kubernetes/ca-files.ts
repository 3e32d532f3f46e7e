import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** CA bundles as files of a private temporary folder: their path is part of the description of a backend. */
export class CaFiles {
  #folder: Promise<string> | undefined;
  #written = new Map<string, string>();

  /** Path of a file with this PEM text; equal texts have the same path. @throws Error of the file system */
  async pathOf(pem: string): Promise<string> {
    const hash = createHash('sha256').update(pem).digest('hex').slice(0, HASH);
    const known = this.#written.get(hash);
    if (known !== undefined) return known;
    this.#folder ??= mkdtemp(join(tmpdir(), 'toolmgr-ca-'));
    const path = join(await this.#folder, `${hash}.crt`);
    await writeFile(path, pem, { mode: 0o600 });
    this.#written.set(hash, path);
    return path;
  }

  /** Deletes the files with other paths. */
  async keepOnly(paths: ReadonlySet<string>): Promise<void> {
    for (const [hash, path] of this.#written) {
      if (paths.has(path)) continue;
      this.#written.delete(hash);
      await rm(path, { force: true });
    }
  }

  /** Deletes the folder. */
  async close(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    this.#written = new Map();
    if (folder !== undefined) await rm(await folder, { recursive: true, force: true });
  }
}

const HASH = 32; // hexadecimal digits
