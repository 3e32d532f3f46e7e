import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { userPlace } from '@toolmgr/plugins/clients';
import { signatureVerifier } from '@toolmgr/plugins/image-verification';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skillPlaces } from '../../../plugins/clients/skill-places.ts';
import { artifactOperations } from '../../../plugins/skills/artifact-operations.ts';
import { openSkills } from '../../../plugins/skills/install/open-skills.ts';
import { skillsOperations } from '../../../plugins/skills/operations.ts';
import { type DockerRegistry, registryMissing, startDockerRegistry } from '../../support/docker-registry.ts';
import { type GitServer, gitMissing, startGitServer } from '../../support/git-server.ts';
import { type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { type StartedManager, startManager } from '../../support/manager.ts';
import { proves } from '../../support/proves.ts';
import { type SkillFolder, skillFolder, skillText } from '../../support/skill-folder.ts';

const missing = registryMissing() ?? gitMissing();
const content = (ref: string): string => `/api/v1beta/skills/content?ref=${encodeURIComponent(ref)}`;

describe.skipIf(missing !== undefined)(`artifacts of skills in the manager ${missing ?? ''}`, () => {
  let manager: StartedManager;
  let registry: DockerRegistry;
  let git: GitServer;
  let skill: SkillFolder;
  /** A registry that answers with the status in the name of the repository. */
  let refusing: LoopbackServer;

  beforeAll(async () => {
    [registry, git, skill, refusing] = await Promise.all([
      startDockerRegistry(),
      startGitServer(),
      skillFolder('code-review', ['version: 1.2.0', 'license: MIT']),
      loopbackServer((request, response) => {
        const status = Number(/status-(\d+)/.exec(request.url ?? '')?.[1] ?? 404);
        if (status !== 999) response.writeHead(status).end('{}'); // 999 never answers
      }),
    ]);
    const env = { HOME: skill.home };
    manager = await startManager({
      operations: ({ state }) =>
        skillsOperations({
          skills: openSkills({
            state,
            env,
            clients: () => skillPlaces(userPlace(env, 'linux', skill.home)),
            signatures: async () => signatureVerifier,
            store: join(skill.home, 'store'),
            cacheDir: skill.home,
            settings: async () => ({ allowPrivateAddresses: true }),
          }),
          store: join(skill.home, 'store'),
          env,
          pushSettings: async () => ({ allowPrivateAddresses: true }),
          servesProjects: true,
        }),
    });
  });
  afterAll(async () => {
    for (const each of [manager, registry, git, skill, refusing]) await each?.[Symbol.asyncDispose]();
  });

  const EXPECTED = {
    name: 'code-review',
    description: 'Reviews a change.',
    version: '1.2.0',
    license: 'MIT',
    body: '# Use it\n\nRead the files.\n',
    files: [
      { path: 'SKILL.md', size: skillText('code-review', ['version: 1.2.0', 'license: MIT']).length },
      { path: 'references/rules.md', size: 8 },
      { path: 'scripts/check.sh', size: 23 },
    ],
  };

  proves(
    [
      'manager.skills.content-200',
      'manager.skills.content-ref-forms',
      'manager.skill-content.body',
      'manager.skill-content.files',
      'manager.skill-content.strings',
    ],
    'a skill is built, pushed, and read from a local build, a registry and git with the same content',
    async () => {
      const tag = `${registry.host}/org/code-review:1.2.0`;
      const built = await manager.request('POST', '/api/v1beta/skills/build', { path: skill.path, tag });
      const digest = expect.stringMatching(/^sha256:/);
      expect([built.status, built.body]).toEqual([200, { reference: tag, digest, warnings: [] }]);
      const named = await manager.request('POST', '/api/v1beta/skills/build', { path: skill.path });
      expect([named.status, named.body]).toEqual([200, { reference: 'code-review', digest, warnings: [] }]);
      const listed = await manager.request('GET', '/api/v1beta/skills/builds');
      expect(listed.body.builds.map((each: { tag: string }) => each.tag)).toEqual([tag, 'code-review']);
      expect(listed.body.builds[0]).toMatchObject({ name: 'code-review', version: '1.2.0' });
      const local = await manager.request('GET', content('code-review'));
      const pushed = await manager.request('POST', '/api/v1beta/skills/push', { reference: tag, no_sign: true });
      expect([pushed.status, pushed.text]).toEqual([204, '']);
      const build = `/api/v1beta/skills/builds/${encodeURIComponent(tag)}`;
      expect((await manager.request('DELETE', build)).status).toBe(204);
      expect((await manager.request('DELETE', build)).status).toBe(404);
      const remote = await manager.request('GET', content(tag));
      const files = EXPECTED.files.map(async ({ path }) => {
        return [`code-review/${path}`, await readFile(join(skill.path, path), 'utf8')] as const;
      });
      await git.commit('org/skills', Object.fromEntries(await Promise.all(files)));
      const fromGit = await manager.request('GET', content(`git://${git.host}/org/skills#code-review`));
      const source = { reference: expect.stringMatching(/code-review/), digest: expect.any(String) };
      for (const answer of [local, remote, fromGit])
        expect([answer.status, answer.body]).toEqual([200, { ...EXPECTED, ...source }]);
      const installed = await manager.request('GET', '/api/v1beta/skills');
      expect(installed.body).toEqual({ skills: [] });
    },
  );

  const statusOf = async (ref: string): Promise<readonly [number, string]> => {
    const { status, body } = await manager.request('GET', content(ref));
    expect(body).toMatchObject({ status, detail: expect.any(String) });
    return [status, body.code];
  };
  const upstream = (status: number): string => `127.0.0.1:${refusing.port}/org/status-${status}:v1`;

  proves(
    ['manager.skills.content-ref', 'manager.skills.content-400'],
    'content without a valid ref answers 400',
    async () => {
      const absent = await manager.request('GET', '/api/v1beta/skills/content');
      expect([absent.status, absent.body.code]).toEqual([400, 'bad_request']);
      expect(absent.body.errors[0]).toMatchObject({ in: 'query', path: 'ref' });
      for (const ref of [
        'Not A Name',
        'git://host',
        'git://github.com/o/r@--upload-pack=x',
        'file:///etc/passwd',
        '../x/y',
      ])
        expect(await statusOf(ref)).toEqual([400, 'bad_request']);
    },
  );

  proves(
    [
      'manager.skills.content-401',
      'manager.skills.content-404',
      'manager.skills.content-429',
      'manager.skills.content-502',
    ],
    'what a registry refuses has a status of its own',
    async () => {
      expect(await statusOf(upstream(401))).toEqual([401, 'upstream_unauthorized']);
      expect(await statusOf(upstream(403))).toEqual([401, 'upstream_unauthorized']);
      expect(await statusOf(upstream(404))).toEqual([404, 'not_found']);
      expect(await statusOf('no-such-skill')).toEqual([404, 'not_found']);
      expect(await statusOf(upstream(429))).toEqual([429, 'upstream_rate_limited']);
      expect(await statusOf(upstream(500))).toEqual([502, 'upstream_failed']);
      expect(await statusOf(`127.0.0.1:1/org/skill:v1`)).toEqual([502, 'upstream_failed']);
    },
  );

  proves('manager.skills.content-504', 'a registry that does not answer in time is a 504', async () =>
    expect(await statusOf(upstream(999))).toEqual([504, 'upstream_timeout']),
  );

  proves('manager.skills.content-500', 'a damaged store of local builds answers 500 without its path', async () => {
    const index = join(skill.home, 'store/index.json');
    const before = await readFile(index);
    await writeFile(index, 'damaged');
    const answer = await manager.request('GET', content('code-review'));
    await writeFile(index, before);
    expect([answer.status, answer.body.code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain(skill.home);
  });

  proves(
    ['manager.skills.validate-200', 'manager.validation-result.fields'],
    'validation answers 200 for valid and invalid skills',
    async () => {
      const validate = async (path: string) => {
        const { status, body } = await manager.request('POST', '/api/v1beta/skills/validate', { path });
        expect(status).toBe(200);
        return body;
      };
      expect(await validate(skill.path)).toEqual({ valid: true, errors: [], warnings: [] });
      expect(await validate(join(skill.home, 'absent'))).toMatchObject({
        valid: false,
        errors: ['there is no such folder'],
      });
      await using other = await skillFolder('other-skill', ['allowed-tools: Read, Write']);
      expect(await validate(other.path)).toMatchObject({ valid: true, warnings: [expect.stringContaining('commas')] });
      await symlink('/etc/passwd', join(other.path, '.hidden-link'));
      expect(await validate(other.path)).toMatchObject({ valid: false, errors: ['".hidden-link" is a symbolic link'] });
      await rm(join(other.path, '.hidden-link'));
      await symlink(other.path, join(other.home, 'linked'));
      expect(await validate(join(other.home, 'linked'))).toMatchObject({ errors: ['the folder is a symbolic link'] });
      await other.write('SKILL.md', skillText('another-name'));
      expect(await validate(other.path)).toMatchObject({
        errors: [expect.stringContaining('is not the name of the folder')],
      });
      await rm(join(other.path, 'SKILL.md'));
      expect(await validate(other.path)).toMatchObject({ valid: false, errors: ['SKILL.md is missing'] });
    },
  );

  it('a push needs exactly one way to sign, and a build with the tag', async () => {
    const push = (body: object) => manager.request('POST', '/api/v1beta/skills/push', body);
    const reference = 'ghcr.io/org/absent:v1';
    for (const choice of [{}, { no_sign: false }, { no_sign: true, key: '/k' }, { key: '/k', identity_token: 't' }]) {
      const { status, body } = await push({ reference, ...choice });
      expect([status, body.detail]).toEqual([400, expect.stringContaining('Exactly one of')]);
    }
    expect((await push({ reference, no_sign: true })).status).toBe(404);
    expect((await push({ reference: 'code-review', no_sign: true })).status).toBe(400);
    const wrong = await push({ reference, identity_token: 'a-secret-token' });
    expect(wrong.text).not.toContain('a-secret-token');
  });

  proves(
    'manager.skills.validate-errors',
    'validation refuses a path that is relative or leads out, and can fail',
    async () => {
      for (const path of ['skills/code-review', '/tmp/../etc', '/tmp/a\0b', '']) {
        const { status, body } = await manager.request('POST', '/api/v1beta/skills/validate', { path });
        expect([status, body.code]).toEqual([400, 'bad_request']);
      }
      const unknown = await manager.request('POST', '/api/v1beta/skills/validate', { path: '/tmp', paths: [] });
      expect(unknown.status).toBe(400);
      const long = await manager.request('POST', '/api/v1beta/skills/validate', { path: `/tmp/${'n'.repeat(300)}` });
      expect(long.body).toMatchObject({ valid: false, errors: ['there is no such folder'] });
      await manager.stop();
      await using failing = await startManager({
        operations: artifactOperations({
          resolve: () => Promise.reject(new Error('not used')),
          store: join(skill.home, 'store'),
          env: {},
          pushSettings: () => Promise.reject(new Error('not used')),
          get servesFiles(): boolean {
            throw new Error(`disk failure at ${skill.home}`);
          },
        }),
      });
      const failed = await failing.request('POST', '/api/v1beta/skills/validate', { path: skill.path });
      expect([failed.status, failed.body.code]).toEqual([500, 'internal_error']);
      expect(failed.text).not.toContain(skill.home);
    },
  );
});
