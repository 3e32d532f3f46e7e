import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');

/** The built files of the programs, in the same folders as in a package, and their sources. */
const PROGRAMS = {
  'cli/main.js': 'hosts/cli/main.ts',
  'run/proxy/proxy-main.js': 'hosts/workloads/proxy/proxy-main.ts',
  'session.js': 'test/support/cli-session-process.ts',
} as const;

/** A source that starts another program, and the built file that it takes itself for. */
const STARTERS = { 'run/workloads/launch.js': 'hosts/workloads/planning/launch.ts' } as const;

/** Packages that most commands load. Others stay outside: they are loaded late, and tests hide some of them. */
const INSIDE = /^(?:@toolmgr\/|(?:commander|tapable|yaml|zod)$)/;

/**
 * Writes the programs that tests start into a folder, in few files: a start of these takes half of the CPU time. `place` is where the
 * folder will be.
 *
 * The code has the URLs of its sources, so it finds the files beside them, and acts as in a checkout. Only the programs are in the folder.
 */
export async function buildProgram(folder: string, place: string): Promise<void> {
  const places = new Map(
    Object.entries({ ...PROGRAMS, ...STARTERS }).map(([file, source]) => [join(ROOT, source), join(place, file)]),
  );
  const input = Object.entries(PROGRAMS).map(([file, source]) => [file.replace(/\.js$/, ''), join(ROOT, source)]);
  const built = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(input),
    platform: 'node',
    resolve: { conditionNames: ['development', 'node', 'import'] },
    external: (id, importer) => !/^[./]/.test(id) && !INSIDE.test(id) && !isOfWorkspace(id, importer),
    plugins: [withPlaces((path) => places.get(path) ?? path)],
    logLevel: 'silent',
  });
  await built.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
  });
  await built.close();
}

/** Whether a workspace has a version of its own of a package: from the folder of the programs, Node would find another one. */
function isOfWorkspace(id: string, importer = ''): boolean {
  const [workspace = ''] = relative(ROOT, importer).split(sep);
  return existsSync(join(ROOT, workspace, 'node_modules', id));
}

/** Writes the place of each source where it asks for its own. */
function withPlaces(placeOf: (path: string) => string): Plugin {
  return {
    name: 'places-of-sources',
    transform: {
      filter: { id: /\.ts$/, code: 'import.meta' },
      handler(code, path) {
        const filename = placeOf(path);
        const meta = { url: pathToFileURL(filename).href, filename, dirname: join(filename, '..') };
        return code
          .replace(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name: keyof typeof meta) =>
            JSON.stringify(meta[name]),
          )
          .replace(/\bimport\.meta\b(?!\.)/g, JSON.stringify(meta));
      },
    },
  };
}
