import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { mediaTypeOf, type PackedFile, type PackedPage } from '../../hosts/http/page/packed-page.ts';
import { isMain } from '../../hosts/shared/is-main.ts';

const FOLDER = join(import.meta.dirname, '../../hosts/manager/page');
const SOURCES = ['index.html', 'main.tsx', 'app', 'views', 'widgets', 'style'];

/** Where a package has the built page. */
const IN_PACKAGE = new URL('../../hosts/dist/manager/page/packed-page.json', import.meta.url);

/**
 * Builds the page: minified files with hashed names, each compressed once. The result is kept in `file` and used again
 * while the sources are the same; a file that cannot be written costs only the next build.
 */
export async function buildPage(file: URL | string = IN_PACKAGE): Promise<PackedPage> {
  const sources = await digestOfSources();
  const kept = await readPacked(file);
  if (kept?.sources === sources) return kept;
  const page: PackedPage = { sources, files: await packedFiles() };
  await keep(file, page).catch(() => undefined);
  return page;
}

async function packedFiles(): Promise<readonly PackedFile[]> {
  const built = await build({
    root: FOLDER,
    base: './',
    configFile: false,
    envFile: false,
    logLevel: 'error',
    mode: 'production',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      target: 'es2023',
      assetsInlineLimit: 0, // `data:` URLs are not allowed by the policy of the page
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      emptyOutDir: false,
    },
  });
  if (!('output' in built)) throw new Error('vite gave no single output');
  return Promise.all(
    built.output.map(async (item) => {
      const bytes = Buffer.from(item.type === 'chunk' ? item.code : item.source);
      const [small, smallest] = await Promise.all([
        promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
        promisify(brotliCompress)(bytes),
      ]);
      const path = item.fileName === 'index.html' ? '/' : `/${item.fileName}`;
      return {
        path,
        mediaType: mediaTypeOf(item.fileName),
        etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
        bytes: bytes.length,
        gzip: small.toString('base64'),
        brotli: smallest.toString('base64'),
      };
    }),
  );
}

async function digestOfSources(): Promise<string> {
  const lists = await Promise.all(SOURCES.map((name) => filesUnder(join(FOLDER, name))));
  const paths = [...lists.flat().sort(), import.meta.filename, ...TOOLS];
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(path.slice(FOLDER.length))
      .update('\0')
      .update(await readFile(path));
  return hash.digest('hex');
}

/** What the result depends on beside the sources. */
const TOOLS = ['vite', 'preact', '@preact/signals'].map((name) => join(packageFolder(name), 'package.json'));

function packageFolder(name: string): string {
  const inside = `/node_modules/${name}/`;
  const path = decodeURIComponent(new URL(import.meta.resolve(name)).pathname);
  return path.slice(0, path.lastIndexOf(inside) + inside.length);
}

async function filesUnder(path: string): Promise<readonly string[]> {
  if (/\.[a-z]+$/.test(path)) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function readPacked(file: URL | string): Promise<PackedPage | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as PackedPage;
  } catch {
    return undefined;
  }
}

async function keep(file: URL | string, page: PackedPage): Promise<void> {
  const path = typeof file === 'string' ? file : decodeURIComponent(file.pathname);
  const partial = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(partial, JSON.stringify(page));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

if (isMain(import.meta)) await buildPage();
