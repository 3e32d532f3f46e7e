import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from '../../support/cli.ts';
import { registryMissing, startDockerRegistry } from '../../support/docker-registry.ts';
import { gitMissing, startGitServer } from '../../support/git-server.ts';
import { ownFolders, startManager } from '../../support/manager.ts';
import { skillFolder, skillText } from '../../support/skill-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const missing = registryMissing() ?? gitMissing();
const LOCK = 'toolmgr.lock.yaml';

describe.skipIf(missing !== undefined)(`skills of a real registry and a real git server ${missing ?? ''}`, () => {
  it('are installed, synced and upgraded by the manager, and by the commands from the same state', async () => {
    await using registry = await startDockerRegistry();
    await using git = await startGitServer();
    await using folder = await skillFolder('code-review', ['version: 1.0.0']);
    const home = temporaryFolder('real-skills');
    await using manager = await startManager({ home });
    const root = join(home, 'project');
    for (const each of ['project/.git', 'project/deep', '.cursor', 'config/toolmgr'])
      await mkdir(join(home, each), { recursive: true });
    const settings = join(home, 'config/toolmgr/config.yaml');
    await writeFile(settings, 'allow_private_registry_ip: true\n', { mode: 0o600 });
    const post = (path: string, body: object) => manager.request('POST', `/api/v1beta/skills${path}`, body);
    const reference = `${registry.host}/org/code-review`;
    const release = async (version: string) => {
      await folder.write('SKILL.md', skillText('code-review', [`version: ${version}`], `# ${version}\n`));
      expect((await post('/build', { path: folder.path, tag: `${reference}:stable` })).status).toBe(200);
      expect((await post('/push', { reference: `${reference}:stable`, no_sign: true })).status).toBe(204);
      const tag = encodeURIComponent(`${reference}:stable`);
      expect((await manager.request('DELETE', `/api/v1beta/skills/builds/${tag}`)).status).toBe(204);
    };
    await release('1.0.0');
    const commit = await git.commit('org/skills', { 'notes/SKILL.md': skillText('notes') });
    const notes = `git://${git.host}/org/skills@main#notes`;

    const body = { name: reference, version: 'stable', project_root: root, clients: ['cursor'], allow_unsigned: true };
    const installed = await post('', body);
    expect(installed, installed.text).toMatchObject({
      status: 201,
      body: { skill: { tag: 'stable', metadata: { version: '1.0.0' }, clients: ['cursor'], unsigned: true } },
    });
    const run = (...args: readonly string[]) =>
      cli(['skill', ...args], { cwd: join(root, 'deep'), env: ownFolders(home) });
    const refused = await run('install', '--scope', 'project', notes);
    expect(refused).toMatchObject({ code: 4, err: expect.stringContaining('has no signature') });
    const added = await run('install', '--scope', 'project', '--allow-unsigned', '-c', 'cursor', '--', notes);
    expect(added).toMatchObject({ code: 0, out: 'notes is installed for cursor\n' });
    const lock = await readFile(join(root, LOCK), 'utf8');
    expect(lock).toContain(`source: ${reference}:stable`);
    expect(lock).toContain(`digest: ${commit}`);
    const listed = await run('list', '--format', 'json');
    expect(JSON.parse(listed.out)).toEqual((await manager.request('GET', '/api/v1beta/skills')).body);

    await release('2.0.0');
    await rm(join(root, '.cursor'), { recursive: true });
    expect(await run('sync', '--check')).toMatchObject({ code: 2, out: expect.stringContaining('differs from') });
    expect((await post('/sync', { project_root: root })).body).toMatchObject({ drifted: ['code-review', 'notes'] });
    expect(await readFile(join(root, '.cursor/skills/code-review/SKILL.md'), 'utf8')).toContain('1.0.0');
    expect(await run('sync', '--check')).toMatchObject({ code: 0 });
    expect(await run('upgrade', '--fail-on-changes')).toMatchObject({
      code: 2,
      out: expect.stringContaining('upgraded'),
    });
    expect((await post('/upgrade', { project_root: root })).body.outcomes).toMatchObject([
      { name: 'code-review', status: 'upgraded' },
      { name: 'notes', status: 'up-to-date' },
    ]);
    expect(await readFile(join(root, '.cursor/skills/code-review/SKILL.md'), 'utf8')).toContain('2.0.0');

    // a lock file from someone else must not make requests in the private network
    await writeFile(settings, '');
    await rm(join(root, '.cursor'), { recursive: true });
    const before = git.seen.length;
    const inside = await run('sync', '--yes', '--format', 'json');
    expect(inside.code).toBe(3);
    expect(JSON.parse(inside.out).failed.map(({ name }: { name: string }) => name)).toEqual(['code-review', 'notes']);
    expect(git.seen).toHaveLength(before);

    const gone = await run('uninstall', '--scope', 'project', 'code-review', 'notes', '--format', 'json');
    expect([gone.code, JSON.parse(gone.out)]).toEqual([0, { removed: ['code-review', 'notes'] }]);
    expect(await readFile(join(root, LOCK), 'utf8')).toBe('version: 1\nskills: []\n');
    expect(await run('info', 'notes')).toMatchObject({ code: 1, err: expect.stringContaining('is not installed') });
    await rm(home, { recursive: true, force: true });
  });
});
