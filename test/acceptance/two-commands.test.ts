import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { processes, processesWith, treeOf } from '../support/processes.ts';
import { proves } from '../support/proves.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const UNPRIVILEGED_USER = 65_534;
const OWNER = `${UNPRIVILEGED_USER}:${UNPRIVILEGED_USER}`;
const INSTALL_MS = 240_000;
const isRoot = process.getuid?.() === 0;
const problem = whyNot();

/** A new user's machine: an empty folder, the machine's own Node, and another user if this one is root. */
describe('a fresh clone', () => {
  let home = '';
  let clone = '';

  beforeAll(() => {
    if (problem !== undefined) return;
    home = quickFolder('stranger');
    clone = join(home, 'clone');
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
    if (isRoot) execFileSync('chown', ['-R', OWNER, home]);
  });

  afterAll(() => {
    if (home !== '') rmSync(home, { recursive: true, force: true });
  });

  const newUser = problem === undefined ? proves : proves.skipIf(true, problem);

  newUser(
    ['ask.start.installs', 'ask.start.serves', 'ask.start.any-user', 'ask.node.pinned', 'ask.node.old-node-enough'],
    'installs its packages, serves three servers to a real client, and leaves nothing behind',
    async () => {
      const started = run(home, clone, ['start', '--', '--port', '0']);
      const url = await printed(started, /serves (http:\/\/127\.0\.0\.1:\d+\/mcp)/, INSTALL_MS);
      const client = new Client({ name: 'stranger', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { tools } = await client.listTools();
      expect(tools.length).toBeGreaterThan(20);
      await client.close();
      await printed(started, /(Ctrl-C stops everything)/, 30_000);
      const installed = execFileSync(join(clone, 'node_modules', '.bin', 'node'), ['-v'], { encoding: 'utf8' });
      expect(installed).toMatch(/^v24\./);
      expect(statSync(join(clone, 'node_modules')).uid).toBe(isRoot ? UNPRIVILEGED_USER : process.getuid?.());
      process.kill(-(started.child.pid ?? 0), 'SIGINT'); // like Ctrl-C: to the whole process group
      await started.ended;
      await until(() => processesWith(clone).length === 0);
    },
    INSTALL_MS + 60_000,
  );

  newUser(
    ['ask.test.installs', 'ask.test.checks', 'ask.test.summary'],
    'checks types and style, runs the given tests, and ends with a summary line',
    async () => {
      takeCompilerState(clone);
      const tested = run(home, clone, ['test', '--', 'test/core/json/raw-json.test.ts']);
      const code = await tested.ended;
      const said = tested.text();
      expect(code, said.slice(-4_000)).toBe(0);
      expect(said).toMatch(/ok: types .*\nok: types of tests .*\n[\s\S]*ok: lint/);
      expect(said).toMatch(/\n\d+ passed, 0 failed\n$/);
    },
    INSTALL_MS + 60_000,
  );
});

describe('the installation of a clone', () => {
  /** With the scripts of the clone and one package: before npm asks for the packages of the clone, it takes 4 s of CPU time. */
  function uninstalled(): string {
    const folder = temporaryFolder('install');
    cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts, dependencies: { zod: '4.0.0' } }));
    writeFileSync(join(folder, 'package-lock.json'), '{ "lockfileVersion": 3, "packages": {} }');
    return folder;
  }

  function install(env: Record<string, string>) {
    const folder = uninstalled();
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts', 'ensure.cjs')], {
      encoding: 'utf8',
      env: { HOME: folder, npm_config_cache: join(folder, '.npm'), ...env },
    });
    const hasNode = existsSync(join(folder, 'node_modules/.bin/node'));
    return { status, stderr, hasNode };
  }

  proves('ask.node.pinned', "uses the machine's Node where the installed one does not start, as on Alpine", () => {
    const tools = temporaryFolder('npm');
    const npm = 'cd node_modules/.bin && printf "#!/lib/none\\n" > node && chmod +x node';
    writeFileSync(join(tools, 'npm'), `#!/bin/sh\nmkdir -p node_modules/.bin && ${npm}\n`, { mode: 0o755 });
    expect(install({ PATH: `${tools}:/bin` })).toEqual({ status: 0, stderr: '', hasNode: false });
  });

  proves(
    'ask.start.no-network',
    'reports that the packages could not be installed, and what to check, without a network',
    () => {
      const nowhere = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' };
      const ended = install({ PATH: systemPath(), ...nowhere });
      expect(ended.status).toBe(1);
      expect(ended.stderr).toContain(
        'npm could not install the packages. Check the network and the registry (npm ping)',
      );
    },
  );

  proves(
    'ask.start.ctrl-c',
    'ends with all that it started on SIGHUP, SIGINT and SIGTERM, and when only the npm above it is ended, by the signal itself',
    async () => {
      const alone = [process.execPath, 'scripts/ensure.cjs'];
      const cases = [
        ...(['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map((name) => ({ name, words: alone })),
        ...(['SIGHUP', 'SIGTERM'] as const).map((name) => ({ name, words: ['npm', 'start'] })),
      ];
      await Promise.all(
        cases.map(async ({ name, words: [file = '', ...args] }) => {
          const folder = uninstalled();
          const registry = createServer().listen(0, '127.0.0.1'); // never answers
          await once(registry, 'listening');
          const asked = once(registry, 'request');
          const child = spawn(file, args, {
            cwd: folder,
            stdio: 'ignore',
            env: {
              ...{ PATH: systemPath(), HOME: folder, npm_config_cache: join(folder, '.npm') },
              npm_config_update_notifier: 'false',
              npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
            },
          });
          const ended = once(child, 'exit');
          await asked;
          const started = treeOf(child.pid ?? 0).map(({ pid }) => pid);
          expect(started.length).toBeGreaterThan(1);
          child.kill(name);
          expect(await ended).toEqual([null, name]);
          await until(() => !processes().some(({ pid }) => started.includes(pid)));
          registry.closeAllConnections();
          registry.close();
        }),
      );
    },
    60_000,
  );

  proves('ask.start.missing-tool', 'names a missing tool and where to get it', () => {
    const ended = install({ PATH: '/nowhere' });
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining('npm is not on the PATH; install it') });
  });
});

describe('the documents of a clone', () => {
  proves('ask.test.ci', 'have CI call exactly the README command', () => {
    const lines = readFileSync(join(root, '.ci', 'run'), 'utf8').split('\n');
    const commands = lines.filter((line) => line !== '' && !line.startsWith('#') && !/^(set|cd|export) /.test(line));
    expect(commands).toEqual(['npm test']);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toMatch(/^npm test$/m);
  });
});

/**
 * What the compiler knows of this checkout, as in a clone that is tested a second time: it compiles what differs only. That everything
 * compiles from nothing is shown by CI, which is a fresh clone.
 */
function takeCompilerState(clone: string): void {
  const outputs = [
    ...['core', 'plugins', 'hosts'].map((workspace) => `${workspace}/dist`),
    'node_modules/.cache/toolmgr',
  ];
  for (const path of [...outputs, 'node_modules/.cache/toolmgr-tests/types.tsbuildinfo']) {
    if (existsSync(join(root, path)))
      cpSync(join(root, path), join(clone, path), { recursive: true, preserveTimestamps: true });
    if (isRoot && existsSync(join(clone, path))) execFileSync('chown', ['-R', OWNER, join(clone, path)]);
  }
  if (isRoot) execFileSync('chown', [OWNER, join(clone, 'node_modules/.cache')]);
}

function whyNot(): string | undefined {
  if (!existsSync(join(root, '.git'))) return 'the tests do not run in a git checkout';
  const version = execFileSync('node', ['-v'], { encoding: 'utf8', env: { ...process.env, PATH: systemPath() } });
  return Number(version.slice(1).split('.')[0]) >= 20 ? undefined : `the machine's own Node is ${version.trim()}`;
}

/** The PATH without the tools of this checkout. */
function systemPath(): string {
  return (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':');
}

function asNewUser(home: string) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|HOME$|PATH$)/.test(name));
  return {
    env: { ...Object.fromEntries(kept), HOME: home, PATH: systemPath(), npm_config_cache: join(home, '.npm') },
    ...(isRoot ? { uid: UNPRIVILEGED_USER, gid: UNPRIVILEGED_USER } : {}),
  };
}

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  text(): string;
}

function run(home: string, clone: string, args: readonly string[]): Run {
  const child = spawn('npm', args, {
    cwd: clone,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...asNewUser(home),
  });
  let text = '';
  const keep = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return { child, text: () => text, ended: new Promise((resolve) => child.once('close', resolve)) };
}

async function printed({ child, text, ended }: Run, pattern: RegExp, ms: number): Promise<string> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(() => pattern.test(text()) || isOver, ms);
  const found = pattern.exec(text())?.[1];
  if (found === undefined)
    throw new Error(`${child.spawnargs.join(' ')} ended without ${pattern}: ${text().slice(-2_000)}`);
  return found;
}
