import { describe, expect, it } from 'vitest';
import { resolveSkill } from '../../../plugins/skills/artifact/resolve-skill.ts';
import { gitMissing, startGitServer } from '../../support/git-server.ts';
import { skillText } from '../../support/skill-folder.ts';

const options = (env: NodeJS.ProcessEnv = {}) => ({
  isNamedByUser: true,
  signal: AbortSignal.timeout(60_000),
  store: '/nonexistent',
  allowPrivateAddresses: true,
  env,
});

describe.skipIf(gitMissing() !== undefined)(`git references ${gitMissing() ?? ''}`, () => {
  it('are read at a branch, a tag, a commit and the default branch, and in a folder', async () => {
    await using server = await startGitServer();
    const first = await server.commit(
      'org/skills',
      { 'tools/code-review/SKILL.md': skillText('code-review') },
      { tag: 'v1.0.0' },
    );
    const second = await server.commit('org/skills', {
      'tools/code-review/SKILL.md': skillText('code-review', ['version: 2.0.0']),
      'tools/code-review/.hidden': 'x',
      'tools/code-review/a.txt': 'a',
      'tools/code-review/b/c.sh': '#!/bin/sh\n',
    });
    await server.commit(
      'org/skills',
      { 'tools/code-review/SKILL.md': skillText('code-review', ['version: 3']) },
      { branch: 'next' },
    );
    const read = (text: string) => resolveSkill(`git://${server.host}/org/skills${text}#tools/code-review`, options());
    expect(await read('')).toMatchObject({
      artifact: {
        kind: 'git',
        name: 'code-review',
        version: '2.0.0',
        digest: second,
        resolvedReference: `git://${server.host}/org/skills@${second}#tools/code-review`,
        body: '# Use it\n\nRead the files.\n',
      },
    });
    const { artifact } = (await read('')) as { artifact: { files: readonly { path: string }[] } };
    expect(artifact.files.map(({ path }) => path)).toEqual(['SKILL.md', 'a.txt', 'b/c.sh']);
    expect(await read('@v1.0.0')).toMatchObject({ artifact: { digest: first } });
    expect(await read('@next')).toMatchObject({ artifact: { version: '3' } });
    expect(await read(`@${first}`)).toMatchObject({ artifact: { digest: first } });
    expect(await read('@missing')).toMatchObject({ problem: 'not_found' });
    expect(await read(`@${'0'.repeat(40)}`)).toMatchObject({
      problem: expect.stringMatching(/not_found|upstream_failed/),
    });
    expect(await resolveSkill(`git://${server.host}/org/skills#other`, options())).toMatchObject({
      problem: 'not_found',
    });
    expect(await resolveSkill(`git://${server.host}/org/absent#other`, options())).toMatchObject({
      problem: 'upstream_failed',
    });
  });

  it('follow a renamed repository, and get the token of the host only after a 401', async () => {
    await using server = await startGitServer('git:s3cret-token');
    await server.commit('org/code-review', { 'SKILL.md': skillText('code-review') });
    const reference = `git://${server.host}/org/code-review`;
    const refused = await resolveSkill(reference, options());
    expect(refused).toMatchObject({ problem: 'upstream_unauthorized' });
    const read = await resolveSkill(reference, options({ GIT_TOKEN: 's3cret-token' }));
    expect(read).toMatchObject({ artifact: { name: 'code-review' } });
    const wrong = await resolveSkill(reference, options({ GIT_TOKEN: 'other-token' }));
    expect(wrong).toMatchObject({ problem: 'upstream_unauthorized' });
    expect(JSON.stringify([refused, wrong])).not.toContain('token-');
    expect(server.seen[0]).toBeUndefined();
    const renamed = await resolveSkill(
      `git://${server.host}/renamed/code-review`,
      options({ GIT_TOKEN: 's3cret-token' }),
    );
    expect(renamed).toMatchObject({ artifact: { name: 'code-review' } });
  });

  it('refuse links, submodules, files in LFS and another name than that of the folder', async () => {
    await using server = await startGitServer();
    await server.commit('org/lfs', {
      'SKILL.md': skillText('lfs'),
      'model.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
    });
    await server.commit('org/name', { 'one/SKILL.md': skillText('two') });
    await server.commit('org/link', { 'SKILL.md': skillText('link') });
    const { symlink } = await import('node:fs/promises');
    const work = server.git('org/link', 'rev-parse', '--show-toplevel');
    await symlink('/etc/passwd', `${work}/passwd`);
    await server.commit('org/link', {});
    await server.commit('org/module', { 'SKILL.md': skillText('module') });
    const commit = server.git('org/module', 'rev-parse', 'HEAD');
    server.git('org/module', 'update-index', '--add', '--cacheinfo', `160000,${commit},inner`);
    server.git('org/module', 'commit', '-q', '-m', 'module');
    server.git('org/module', 'push', '-q', 'origin', 'main');
    const detailOf = async (text: string) => {
      const answer = await resolveSkill(`git://${server.host}/org/${text}`, options());
      return 'problem' in answer ? [answer.problem, answer.detail] : ['read'];
    };
    expect(await detailOf('lfs')).toEqual([
      'unprocessable',
      expect.stringContaining('"model.bin" is stored in Git LFS'),
    ]);
    expect(await detailOf('link')).toEqual(['unprocessable', expect.stringContaining('"passwd" is a symbolic link')]);
    expect(await detailOf('module')).toEqual(['unprocessable', expect.stringContaining('"inner" is a submodule')]);
    expect(await detailOf('name#one')).toEqual([
      'unprocessable',
      expect.stringContaining('has the name "two", its folder "one"'),
    ]);
  });
});
