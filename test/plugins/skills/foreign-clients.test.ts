import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../../support/cli.ts';
import { type DockerRegistry, registryMissing, startDockerRegistry } from '../../support/docker-registry.ts';
import { type GitServer, gitMissing, startGitServer } from '../../support/git-server.ts';
import { ownFolders, type StartedManager, startManager } from '../../support/manager.ts';
import { proves } from '../../support/proves.ts';
import { skillFolder, skillText } from '../../support/skill-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const missing = registryMissing() ?? gitMissing();

describe.skipIf(missing !== undefined)(`skills in a fresh home, as other clients install them ${missing ?? ''}`, () => {
  let manager: StartedManager;
  let git: GitServer;
  let registry: DockerRegistry;
  const post = (path: string, body: object) => manager.request('POST', `/api/v1beta/skills${path}`, body);

  beforeAll(async () => {
    [manager, git, registry] = await Promise.all([startManager(), startGitServer(), startDockerRegistry()]);
    await writeFile(join(manager.home, '.claude.json'), '{}', { mode: 0o600 });
    await mkdir(join(manager.home, 'config/toolmgr'), { recursive: true });
    await writeFile(settings(), 'allow_private_registry_ip: true\n', { mode: 0o600 });
  });
  afterAll(() => Promise.all([manager, git, registry].map((each) => each[Symbol.asyncDispose]())));

  const settings = () => join(manager.home, 'config/toolmgr/config.yaml');

  /** The registry document in the form of the reference implementation's own tests. */
  async function serveSkills(...skills: readonly object[]) {
    const file = join(manager.home, 'registry.json');
    const about = { description: 'about it', version: '0.1.0' };
    const dummy = {
      name: 'dummy-server',
      description: 'Placeholder',
      repository: { url: 'https://github.com/example/dummy', type: 'git' },
      version_detail: { version: '0.0.1' },
    };
    const document = {
      $schema: 'https://registry.example/upstream-registry.schema.json',
      version: '1.0.0',
      meta: { last_updated: '2025-01-01T00:00:00Z' },
      data: { servers: [dummy], skills: skills.map((skill) => ({ namespace: 'e2e-test', ...about, ...skill })) },
    };
    await writeFile(file, JSON.stringify(document));
    const put = await manager.request('PUT', '/api/v1beta/registry/default', { local_path: file });
    expect(put.status, put.text).toBe(200);
  }

  it('are installed by a git reference: branch, tag, folder', async () => {
    await git.commit('test/basic', { 'SKILL.md': skillText('basic'), 'README.md': '# basic' }, { tag: 'v1.0.0' });
    const commit = await git.commit('test/deep', { 'skills/my-skill/SKILL.md': skillText('my-skill') });
    for (const [name, found] of [
      [`git://${git.host}/test/basic@v1.0.0`, 'basic'],
      [`git://${git.host}/test/deep@${commit}#skills/my-skill`, 'my-skill'],
    ] as const) {
      const installed = await post('', { name });
      expect(installed, installed.text).toMatchObject({
        status: 201,
        body: { skill: { status: 'installed', clients: ['claude-code'], metadata: { name: found } } },
      });
    }
  });

  proves(
    'choice.skills.git-resolve-failure',
    'answer 502 when there is no such repository, and 404 when it lacks the tag',
    async () => {
      await git.commit('test/known', { 'SKILL.md': skillText('known') });
      for (const [name, status] of [
        ['test/none', 502],
        ['test/known@none', 404],
        ['test/known#none', 404],
      ] as const) {
        const reference = `git://${git.host}/${name}`;
        const refused = await post('', { name: reference });
        expect(refused.status, refused.text).toBe(status);
        const content = await manager.request('GET', `/api/v1beta/skills/content?ref=${encodeURIComponent(reference)}`);
        expect(content.status).toBe(status);
      }
    },
  );

  proves('choice.skills.own-registry', 'are installed by a plain name that a registry has', async () => {
    await git.commit('test/repo', { 'SKILL.md': skillText('by-git') });
    await using folder = await skillFolder('by-oci');
    const reference = `${registry.host}/e2e-test/by-oci:v0.1.0`;
    expect((await post('/build', { path: folder.path, tag: reference })).status).toBe(200);
    expect((await post('/push', { reference, no_sign: true })).status).toBe(204);
    await serveSkills(
      { name: 'by-git', packages: [{ registryType: 'git', url: `https://${git.host}/test/repo` }] },
      { name: 'by-oci', packages: [{ registryType: 'oci', identifier: reference }] },
    );
    for (const name of ['by-git', 'by-oci']) {
      const installed = await post('', { name });
      expect(installed, installed.text).toMatchObject({ status: 201, body: { skill: { status: 'installed' } } });
    }
    expect((await post('', { name: 'nowhere' })).status).toBe(404);
    expect(await readFile(settings(), 'utf8')).not.toContain('allow_private_registry_ip');
    expect((await post('', { name: `git://${git.host}/test/repo` })).status).toBe(400);
  });
});

proves('choice.skills.confirmed', 'a sync or upgrade without a terminal needs --yes', async () => {
  const home = temporaryFolder('unconfirmed-skills');
  await mkdir(join(home, 'project/.git'), { recursive: true });
  await writeFile(join(home, '.claude.json'), '{}');
  const run = (...args: readonly string[]) =>
    cli(['skill', ...args], { cwd: join(home, 'project'), env: ownFolders(home) });
  for (const [command, reporting] of [
    ['sync', '--check'],
    ['upgrade', '--preview'],
  ] as const) {
    const [refused, done, report] = await Promise.all([run(command), run(command, '--yes'), run(command, reporting)]);
    expect(refused).toMatchObject({ code: 4, out: '', err: expect.stringContaining('--yes does it') });
    expect([done.code, report.code], `${done.err}${report.err}`).toEqual([0, 0]);
  }
});
