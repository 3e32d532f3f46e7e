import { cp, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../../support/cli.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const LONG = 120_000;
const ROOT = join(import.meta.dirname, '..', '..', '..');
const importing = (name: string): string =>
  `--import=${pathToFileURL(join(ROOT, 'test', 'support', `${name}.ts`)).href}`;

const folder = temporaryFolderOfFile('installed');
let script: string;
/** The installed package `toolmgr`: no sources, only the build. */
beforeAll(async () => {
  for (const part of ['bin', 'dist', 'package.json']) {
    await cp(join(ROOT, 'hosts', part), join(folder, 'toolmgr', part), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  script = join(folder, 'toolmgr', 'bin', 'toolmgr.js');
});

describe('the installed command line', () => {
  it(
    'sets V8 up before the gateway is loaded',
    async () => {
      const env = {
        NODE_OPTIONS: `${importing('note-engine-flags')} ${importing('note-modules')}`,
        XDG_CACHE_HOME: join(folder, 'cache-1'),
      };
      const { code, err } = await cli(['version'], { script, env });
      expect(code).toBe(0);
      const [narrowed, loaded] = ['semi-space-growth-factor=1', 'toolmgr/dist/cli/main.js'].map((text) =>
        err.indexOf(text),
      );
      expect(narrowed).toBeGreaterThan(-1);
      expect(loaded).toBeGreaterThan(narrowed ?? Number.POSITIVE_INFINITY);
    },
    LONG,
  );

  it(
    'caches compiled code in the cache folder of the user, and starts without one too',
    async () => {
      const cache = join(folder, 'cache-2');
      const env = (home: string) => ({ XDG_CACHE_HOME: home, NODE_COMPILE_CACHE: undefined }); // the tests have a cache of their own
      expect(await cli(['version'], { script, env: env(cache) })).toMatchObject({ code: 0, err: '' });
      expect(await readdir(join(cache, 'toolmgr'))).toHaveLength(1);
      const started = await cli(['version'], { script, env: env('/dev/null') });
      expect(started).toMatchObject({ code: 0, err: '' });
    },
    LONG,
  );
});
