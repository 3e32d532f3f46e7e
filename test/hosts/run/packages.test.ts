import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequirementId } from '../../requirements.ts';
import {
  type ContainerEngine,
  type EngineName,
  engineCall,
  engineMissing,
  startEngine,
} from '../../support/container-engine.ts';
import {
  type BaseKind,
  baseMissing,
  importPackageBase,
  machineCertificates,
  packageBase,
} from '../../support/package-base.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { startToolmgr, toolmgrSession } from './toolmgr.ts';

const LONG = 600_000;
const GO_SERVER = join(import.meta.dirname, '../../support/go-small');
const PUBLISHED_GO = 'go://github.com/modelcontextprotocol/go-sdk/examples/server/hello@v1.8.0';
const NPX = 'npx://@modelcontextprotocol/server-everything';

const session = toolmgrSession();

interface Image {
  readonly Id: string;
  readonly RepoTags: readonly string[] | null;
}

/** Each kind of package is built on one engine; what the engines do differently is the build itself. */
function onEngine(name: EngineName, base: BaseKind) {
  const missing = engineMissing(name) ?? baseMissing(base);
  let engine: ContainerEngine;
  const state = temporaryFolderOfFile('packages');
  let ca: string;

  beforeAll(async () => {
    if (missing !== undefined) return;
    ca = join(state, 'ca.pem');
    await writeFile(ca, await machineCertificates());
    engine = await startEngine(name);
    await importPackageBase(engine, base);
  }, LONG);
  afterAll(async () => {
    if (missing !== undefined) return;
    await engine[Symbol.asyncDispose]();
  }, LONG);

  const ofEngine = () => ({ DOCKER_HOST: `unix://${engine.socket}`, TOOLMGR_RUNTIME: '' });
  const command = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    session(state, args, state, { ...ofEngine(), ...env });
  const get = async <T>(path: string): Promise<T> =>
    JSON.parse((await engineCall(engine.socket, 'GET', `/v1.41/${path}`)).text) as T;
  return {
    runs(ids: readonly RequirementId[], title: string, test: () => Promise<void>): void {
      if (missing !== undefined) it.skip(`${title} (${missing})`, test);
      else if (ids.length > 0) proves([...ids], title, test, LONG);
      else it(title, test, LONG);
    },
    command,
    /** A process that can be signalled. */
    start: (args: readonly string[]) => startToolmgr(state, args, state, ofEngine()),
    get,
    path: (file: string) => join(state, file),
    build: () => ['--runtime-image', packageBase(base), '--ca-cert', ca],
    run: (name: string, target: string, ...more: readonly string[]) =>
      command([
        'run',
        '--name',
        name,
        '--isolate-network=false',
        '--runtime-image',
        packageBase(base),
        '--ca-cert',
        ca,
        ...more.slice(0, split(more)),
        target,
        ...more.slice(split(more)),
      ]),
    images: async (): Promise<readonly string[]> =>
      (await get<Image[]>('images/json'))
        .flatMap(({ RepoTags }) => RepoTags ?? [])
        .filter((tag) => tag.includes('toolmgr/')),
    /** Runs a shell in an image and gives its output. */
    async inside(image: string, script: string): Promise<string> {
      const body = { Image: image, Entrypoint: ['/bin/sh', '-c', script], Cmd: [], Tty: true };
      const { Id } = JSON.parse((await engineCall(engine.socket, 'POST', '/v1.41/containers/create', body)).text);
      await engineCall(engine.socket, 'POST', `/v1.41/containers/${Id}/start`);
      await engineCall(engine.socket, 'POST', `/v1.41/containers/${Id}/wait`);
      const { text } = await engineCall(engine.socket, 'GET', `/v1.41/containers/${Id}/logs?stdout=1&stderr=1`);
      await engineCall(engine.socket, 'DELETE', `/v1.41/containers/${Id}?force=true`);
      return text;
    },
    remove: (image: string) => engineCall(engine.socket, 'DELETE', `/v1.41/images/${image}?force=true`),
  };
}

function split(more: readonly string[]): number {
  const at = more.indexOf('--');
  return at < 0 ? more.length : at;
}

async function call(out: string, tool: string, args: Record<string, unknown>): Promise<string> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(/runs at (\S+)/.exec(out)?.[1] ?? '')));
  try {
    return JSON.stringify(await client.callTool({ name: tool, arguments: args }));
  } finally {
    await client.close();
  }
}

describe('a package in a container of docker', () => {
  const on = onEngine('docker', 'scripts');

  on.runs(
    [
      'run.form.generates-container',
      'run.option.runtime-image',
      'run.option.ca-cert',
      'run.option.runtime-add-package',
    ],
    'is built once and runs without rights',
    async () => {
      const secret = { NO_PROXY: 'marker-of-this-machine.example', NPM_CONFIG_REGISTRY: 'https://registry.npmjs.org/' };
      const options = ['--isolate-network=false', ...on.build(), '--runtime-add-package', 'hello'];
      const ran = await on.command(['run', '--name', 'first', ...options, NPX], secret);
      expect(ran, ran.err).toMatchObject({ code: 0, err: expect.stringMatching(/step \d+\/\d+: RUN \["npm"/) });
      expect(ran.out).toContain(`behind it: ${NPX} in a container over stdio`);
      expect(await call(ran.out, 'echo', { message: 'hello' })).toContain('Echo: hello');

      const [tag = ''] = await on.images();
      expect(tag).toMatch(/^localhost\/toolmgr\/npx-modelcontextprotocol-server-everything:[0-9a-f]{16}$/);
      const known = JSON.stringify([await on.get(`images/${tag}/json`), await on.get(`images/${tag}/history`)]);
      expect(known).not.toMatch(/marker-of-this-machine|registry\.npmjs/);
      const inside = await on.inside(
        tag,
        'id -u; command -v hello; echo $NODE_EXTRA_CA_CERTS; tail -c 28 $SSL_CERT_FILE; test -w /etc/passwd || echo safe',
      );
      expect(inside.split(/\r?\n/)).toEqual(expect.arrayContaining(['10001', '/usr/bin/hello', 'safe']));
      expect(inside).toContain('END CERTIFICATE');

      const exported = await on.command(['export', 'first', on.path('first.json')]);
      expect(exported).toMatchObject({ code: 0 });
      expect(JSON.parse(await readFile(on.path('first.json'), 'utf8'))).toMatchObject({
        image: NPX,
        runtime_config: { builder_image: packageBase('scripts'), additional_packages: ['hello'] },
      });
      expect(await on.command(['rm', '--force', 'first'])).toMatchObject({ code: 0 });
      const imported = await on.command(['run', '--from-config', on.path('first.json')], secret);
      expect(imported, imported.err).toMatchObject({ code: 0, err: expect.not.stringContaining('step') });
      await on.command(['rm', '--force', 'first']);
    },
  );

  on.runs(
    ['run.option.build-with', 'run.option.build-with-uvx'],
    'is a Python server with a constraint of its dependencies and arguments of its own',
    async () => {
      const constraints = ['--build-with', 'click==8.1.7', '--build-with', 'anyio<5'];
      const ran = await on.run(
        'clock',
        'uvx://mcp-server-time',
        ...constraints,
        '--',
        '--local-timezone',
        'Asia/Tokyo',
      );
      expect(ran, ran.err).toMatchObject({ code: 0 });
      const answer = await call(ran.out, 'get_current_time', { timezone: 'Europe/Oslo' });
      expect(answer).toContain('Europe/Oslo');
      const tag = (await on.images()).find((image) => image.includes('uvx-')) ?? '';
      expect(await on.inside(tag, 'ls /app/tools/*/lib/python*/site-packages')).toContain('click-8.1.7.dist-info');
      await on.command(['rm', '--force', 'clock']);
    },
  );

  on.runs([], 'is refused with the last lines of its build, or with the base image that is missing', async () => {
    const absent = await on.run('absent', 'npx://@modelcontextprotocol/no-such-package-at-all');
    expect(absent.code).toBe(1);
    expect(absent.err).toMatch(/could not be built:[\s\S]*E?404/);
    const noBase = ['--isolate-network=false', '--runtime-image', 'localhost:1/none/base:1'];
    const missing = await on.command(['run', '--name', 'absent', ...noBase, 'npx://x']);
    expect(missing.code).toBe(1);
    expect(missing.err).toMatch(
      /built on the image localhost:1\/none\/base:1[\s\S]*--runtime-image[\s\S]*--runtime process/,
    );
    expect((await on.command(['list'])).out).not.toContain('absent');
  });

  on.runs([], 'is not built further after Ctrl-C, and nothing is left', async () => {
    const building = on.start(['build', ...on.build(), 'npx://@modelcontextprotocol/server-memory']);
    await until(() => building.err().includes('RUN ["npm"'), 120_000);
    building.child.kill('SIGINT');
    const ended = await building.ended;
    expect(ended.code).toBe(130);
    expect(ended.err).toContain('was interrupted');
    await until(async () => (await on.get<unknown[]>('containers/json?all=true')).length === 0, 60_000);
    expect((await on.images()).filter((tag) => tag.includes('server-memory'))).toEqual([]);
  });
});

describe('a package in a container of podman', () => {
  const on = onEngine('podman', 'go');

  on.runs([], 'is a Go folder, which is built once, and again when its image has gone', async () => {
    await cp(GO_SERVER, on.path('server'), { recursive: true });
    const ran = await on.run('local', 'go://./server');
    expect(ran, ran.err).toMatchObject({ code: 0, err: expect.stringMatching(/step \d+\/\d+: /) });
    expect(await call(ran.out, 'go_echo', { text: 'hello' })).toContain('hello');
    const again = await on.run('other', 'go://./server');
    expect(again, again.err).toMatchObject({ code: 0, err: expect.not.stringContaining('step') });
    expect(await on.command(['rm', '--force', 'other'])).toMatchObject({ code: 0 });
    expect(await on.command(['stop', 'local'])).toMatchObject({ code: 0 });
    const built = await on.images();
    for (const image of built) await on.remove(image);
    expect(await on.images()).toEqual([]);
    const started = await on.command(['start', 'local']);
    expect(started, started.err).toMatchObject({ code: 0 });
    expect(await on.images()).toEqual(built);
    await on.command(['rm', '--force', 'local']);
  });

  on.runs([], 'is a published Go server, built and named by toolmgr build', async () => {
    const options = [...on.build(), '--tag', 'localhost/toolmgr/mine:1', '--format', 'json'];
    const built = await on.command(['build', ...options, PUBLISHED_GO]);
    expect(built, built.err).toMatchObject({ code: 0 });
    expect(JSON.parse(built.out)).toMatchObject({
      target: PUBLISHED_GO,
      image: 'localhost/toolmgr/mine:1',
      built: true,
    });
    const ran = await on.command([
      'run',
      '--name',
      'mine',
      '--isolate-network=false',
      '--transport',
      'stdio',
      'localhost/toolmgr/mine:1',
    ]);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(await call(ran.out, 'greet', { name: 'Ada' })).toContain('Ada');
    await on.command(['rm', '--force', 'mine']);
  });
});

describe('toolmgr build', () => {
  it('prints or writes the Dockerfile without an engine, and refuses what it cannot build', async () => {
    const state = temporaryFolder('build');
    const build = (...args: string[]) => session(state, ['build', ...args], state, { DOCKER_HOST: 'unix:///none' });
    const printed = await build('--dry-run', 'npx://pkg@1.0.0', '--', '--port', '1');
    expect(printed).toMatchObject({ code: 0, out: expect.stringContaining('ENTRYPOINT ["/app/run","--port","1"]') });
    const json = await build('--dry-run', '--format', 'json', '--tag', 'mine:1', 'npx://pkg@1.0.0');
    expect(JSON.parse(json.out)).toMatchObject({
      image: 'mine:1',
      built: false,
      dockerfile: expect.stringContaining('FROM'),
    });
    expect(await build('--dry-run', '-o', 'Dockerfile', 'uvx://pkg')).toMatchObject({ code: 0 });
    expect(await readFile(join(state, 'Dockerfile'), 'utf8')).toContain('tool install');
    expect(await build('npx://pkg; rm')).toMatchObject({
      code: 1,
      err: expect.stringContaining('expected npx://PACKAGE'),
    });
    expect(await build('--tag', '-x', 'npx://pkg')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--tag -x'),
    });
    expect(await build('npx://pkg')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no container engine answers'),
    });
  });
});
