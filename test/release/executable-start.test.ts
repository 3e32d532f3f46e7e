import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { assembleExecutable } from '../../scripts/release/executable/build-executable.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const found = rig('release');
const missing = 'missing' in found ? found.missing : undefined;
const LONG = 180_000;

/** Stands for the product: says how it was started, and starts a worker from a file beside it. */
const PRODUCT = `
import { Worker } from 'node:worker_threads';
console.log(JSON.stringify({ main: import.meta.main, args: process.argv.slice(2), file: process.argv[1] }));
if (process.argv[2] === 'worker') new Worker(new URL('./worker.js', import.meta.url), { execArgv: [] });
`;

describe.skipIf(missing)(`The single executable${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  const folder = temporaryFolderOfFile('executable');
  let program: string;
  beforeAll(async () => {
    const bin = join(folder, 'tree/node_modules/toolmgr/bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, '../package.json'), '{"type":"module"}');
    await writeFile(join(bin, 'toolmgr.js'), PRODUCT);
    await writeFile(join(bin, 'worker.js'), `console.log('worker of ' + process.argv.slice(2));`);
    // some content, so that unpacking takes long enough to be killed
    for (let at = 0; at < 400; at++) await writeFile(join(folder, 'tree', `${at}.txt`), 'x'.repeat(at));
    program = join(folder, 'toolmgr');
    const node = { version: process.versions.node, file: process.execPath, writer: process.execPath };
    await assembleExecutable({ tree: join(folder, 'tree'), file: program, node, folder });
  }, LONG);

  const freshCache = async (): Promise<string> => mkdtemp(join(folder, 'cache-'));
  const run = (cache: string, ...args: readonly string[]): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      const env = { ...process.env, XDG_CACHE_HOME: cache, NODE_OPTIONS: '' };
      execFile(program, args, { env, timeout: 60_000 }, (failed, out, err) => {
        resolve({ code: failed === null ? 0 : Number(failed.code ?? 1), out, err });
      });
    });
  const treesOf = (cache: string): Promise<string[]> => readdir(join(cache, 'toolmgr/executable'));

  it('unpacks once into a folder of the user, and gives the product its arguments', { timeout: LONG }, async () => {
    const cache = await freshCache();
    const { out, err } = await run(cache, 'up', '--port', '1', '--', '-x');
    expect(err).toBe('');
    const started = JSON.parse(out) as { file: string };
    expect(started).toMatchObject({ main: true, args: ['up', '--port', '1', '--', '-x'] });
    const [tree = '', ...others] = await treesOf(cache);
    expect(others).toEqual([]);
    expect(started.file).toBe(join(cache, 'toolmgr/executable', tree, 'node_modules/toolmgr/bin/toolmgr.js'));
    for (const path of ['toolmgr', 'toolmgr/executable', `toolmgr/executable/${tree}`]) {
      expect((await stat(join(cache, path))).mode & 0o777).toBe(0o700);
    }
    const before = await stat(started.file);
    expect(before.mode & 0o077).toBe(0);
    await run(cache, 'version');
    expect((await stat(started.file)).ino).toBe(before.ino);
  });

  it('takes the forms in which the product starts Node, without unpacking', { timeout: LONG }, async () => {
    const cache = await freshCache();
    const script = join(folder, 'script.mjs');
    await writeFile(script, PRODUCT);
    const asFile = await run(cache, script, '--input-type=module', 'b');
    expect(JSON.parse(asFile.out)).toEqual({ main: true, args: ['--input-type=module', 'b'], file: script });
    const code = `import { arch } from 'node:os'; console.log(JSON.stringify([typeof arch(), process.argv.slice(1)]))`;
    const asCode = await run(cache, '--max-old-space-size=64', '--input-type=module', '-e', code, '--', '80');
    expect(JSON.parse(asCode.out)).toEqual(['string', ['80']]);
    expect(await readdir(cache)).toEqual([]);
    const worker = await run(cache, 'worker', 'x');
    expect(worker.out).toContain('worker of ');
    expect((await run(cache, '/no/such/file')).out).toContain('"args":["/no/such/file"]');
  });

  it('five first starts at once all work, and leave one folder', { timeout: LONG }, async () => {
    const cache = await freshCache();
    const results = await Promise.all(Array.from({ length: 5 }, () => run(cache, 'version')));
    expect(results.map(({ code, err }) => [code, err])).toEqual(Array.from({ length: 5 }, () => [0, '']));
    expect(await treesOf(cache)).toHaveLength(1);
  });

  it('does not use what a killed start has left', { timeout: LONG }, async () => {
    const cache = await freshCache();
    const killed = spawn(program, ['version'], { env: { ...process.env, XDG_CACHE_HOME: cache }, stdio: 'ignore' });
    await until(async () => (await treesOf(cache).catch(() => [])).length > 0, 60_000);
    killed.kill('SIGKILL');
    if (killed.exitCode === null && killed.signalCode === null) await once(killed, 'exit');
    const { code, out } = await run(cache, 'version');
    expect(code).toBe(0);
    expect(out).not.toContain('unfinished');
    const whole = (await treesOf(cache)).filter((name) => !name.startsWith('.'));
    expect(whole).toHaveLength(1);
  });

  it('repairs files that a power failure has emptied, at the first start after it', { timeout: LONG }, async () => {
    const cache = await freshCache();
    await run(cache, 'version');
    const [name = ''] = await treesOf(cache);
    const tree = join(cache, 'toolmgr/executable', name);
    await writeFile(join(tree, '399.txt'), '');
    await writeFile(join(tree, '.checked'), 'another start of the machine');
    expect(await run(cache, 'version')).toMatchObject({ code: 0, err: '' });
    expect((await stat(join(tree, '399.txt'))).size).toBe(399);
    await writeFile(join(tree, '.checked'), 'another start of the machine');
    expect(await run(cache, 'version')).toMatchObject({ code: 0, err: '' });
    expect(await readFile(join(tree, '.checked'), 'utf8')).toBe('on disk');
    expect(await treesOf(cache)).toEqual([name]);
  });

  it('refuses a cache that another user could change, and one that cannot be written', { timeout: LONG }, async () => {
    const cache = await freshCache();
    await run(cache, 'version');
    const [tree = ''] = await treesOf(cache);
    for (const path of ['toolmgr', 'toolmgr/executable', `toolmgr/executable/${tree}`]) {
      await chmod(join(cache, path), 0o777);
      const { code, out, err } = await run(cache, 'version');
      expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(/other users: chmod 700 /) });
      await chmod(join(cache, path), 0o700);
    }
    await chmod(cache, 0o777);
    expect((await run(cache, 'version')).err).toContain('set XDG_CACHE_HOME to a folder that only you may write');
    const file = join(folder, 'file');
    await writeFile(file, '');
    const { code, err } = await run(file, 'version');
    expect(code).toBe(1);
    expect(err).toContain(`cannot make ${join(file, 'toolmgr/executable')}`);
  });
});
