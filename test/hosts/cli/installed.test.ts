import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../../support/cli.ts';

const LONG = 120_000;
const ROOT = join(import.meta.dirname, '..', '..', '..');
const importing = (name: string): string =>
  `--import=${pathToFileURL(join(ROOT, 'test', 'support', `${name}.ts`)).href}`;

let folder: string;
let script: string;
/** The installed package `toolmgr`: no sources, only the build. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmgr-installed-'));
  for (const part of ['bin', 'dist', 'package.json']) {
    await cp(join(ROOT, 'hosts', part), join(folder, 'toolmgr', part), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  script = join(folder, 'toolmgr', 'bin', 'toolmgr.js');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

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

describe('the core in another project', () => {
  it(
    'is installed as its page describes, and serves its example from the build',
    async () => {
      const guide = await readFile(join(ROOT, 'docs/start/embed.md'), 'utf8');
      expect(guide).toMatch(/npx tsc -b\).*\nnpm install \.\.\/toolmgr\/core zod +#/);

      const regionOf = async (file: string, region: string) => {
        const example = await readFile(join(ROOT, 'examples', 'embed-node-http', file), 'utf8');
        return new RegExp(`// region: ${region}\n(.*?)// endregion`, 's').exec(example)?.[1];
      };
      const plugin = await regionOf('embedded.ts', 'plugin');
      const server = await regionOf('story.ts', 'server');
      const file = join(folder, 'server.mts');
      await writeFile(file, [IMPORTS, plugin, server, FIRST_CALL].join('\n'));
      // plain Node, without the condition that selects the sources
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
        env: { PATH: process.env.PATH, HOME: folder },
        timeout: LONG,
      });
      expect({ stdout, stderr }).toEqual({
        stdout: 'fine {"entities":[],"relations":[]} core/dist/index.js\n',
        stderr: '',
      });
    },
    LONG,
  );
});

const IMPORTS = `
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type Backend, createGateway, definePlugin, untilAborted } from '@toolmgr/core';
import { z } from 'zod';`;
const FIRST_CALL = `
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const health = await fetch('http://127.0.0.1:' + (server.address() as { port: number }).port + '/health');
const reply = await gateway.perform({ name: 'read_graph' });
const said = 'result' in reply ? JSON.stringify(reply.result.value.structuredContent) : JSON.stringify(reply);
console.log(await health.text(), said, import.meta.resolve('@toolmgr/core').split('/').slice(-3).join('/'));
server.close();
server.closeAllConnections();
await gateway.stop();`;
