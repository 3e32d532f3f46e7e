import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ProblemCode, problem } from '@toolmgr/plugins/kit/operations';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { installOperations } from '../../../plugins/skills/install/operations.ts';
import { type StartedManager, startManager } from '../../support/manager.ts';
import { proves } from '../../support/proves.ts';
import { type SkillRig, skillRig } from './install/skill-rig.ts';

const REF = 'registry.test/skills/format:1';
const SKILLS = '/api/v1beta/skills';

let rig: SkillRig;
let host: StartedManager;

async function startHost(servesProjects = true): Promise<StartedManager> {
  const started = await startManager({ operations: installOperations({ skills: rig.deps, servesProjects }) });
  onTestFinished(() => started.stop());
  return started;
}

beforeEach(async () => {
  rig = await skillRig();
  host = await startHost();
});

const inProject = (more: object = {}) => ({ name: REF, project_root: rig.root, allow_unsigned: true, ...more });
const post = (path: string, body: object) => host.request('POST', `${SKILLS}${path}`, body);
const query = (values: Readonly<Record<string, string>>) => `?${new URLSearchParams(values)}`;
const damage = async () => {
  await mkdir(join(rig.state, 'skills/installed'), { recursive: true });
  await writeFile(join(rig.state, 'skills/installed/user-format.json'), '{');
};

describe('installing over HTTP', () => {
  proves(
    [
      'manager.skills.install-201',
      'manager.installed-skill.clients',
      'manager.installed-skill.dependencies',
      'manager.installed-skill.digest',
      'manager.installed-skill.installed-at',
      'manager.installed-skill.managed',
      'manager.installed-skill.metadata',
      'manager.installed-skill.project-root',
      'manager.installed-skill.reference',
      'manager.installed-skill.scope',
      'manager.installed-skill.status',
      'manager.installed-skill.tag',
      'manager.skill-metadata.fields',
      'manager.state.skill-installed',
    ],
    'answers with all fields of the skill and its place',
    async () => {
      const low = rig.publish('registry.test/skills/low:1', { name: 'low' });
      const artifact = rig.publish(REF, {
        name: 'format',
        version: '1.2.0',
        requires: ['registry.test/skills/low:1'],
        metadata: { author: 'Ann', tags: 'code, style' },
      });
      const { status, body, headers } = await post('', inProject());
      expect(status).toBe(201);
      expect(headers.get('location')).toBe(`${SKILLS}/format`);
      expect(body).toEqual({
        changed: ['format', 'low'],
        skill: {
          clients: ['alpha', 'beta', 'gamma'],
          dependencies: [{ name: 'low', reference: low.resolvedReference, digest: low.digest }],
          digest: artifact.digest,
          group: 'default',
          installed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          managed: true,
          metadata: {
            author: 'Ann',
            description: 'about format',
            name: 'format',
            tags: ['code', 'style'],
            version: '1.2.0',
          },
          project_root: rig.root,
          reference: artifact.resolvedReference,
          scope: 'project',
          status: 'installed',
          tag: '1',
          unsigned: true,
        },
      });
    },
  );

  const answers: readonly (readonly [number, string, ProblemCode | undefined, object])[] = [
    [400, 'bad_request', undefined, { clients: ['none'] }],
    [400, 'bad_request', undefined, { scope: 'project' }],
    [400, 'bad_request', undefined, { unknown: true }],
    [401, 'upstream_unauthorized', 'upstream_unauthorized', {}],
    [404, 'not_found', 'not_found', {}],
    [409, 'conflict', 'conflict', {}],
    [422, 'unprocessable', 'unprocessable', {}],
    [429, 'upstream_rate_limited', 'upstream_rate_limited', {}],
    [502, 'upstream_failed', 'upstream_failed', {}],
    [504, 'upstream_timeout', 'upstream_timeout', {}],
  ];

  proves('manager.skills.install-errors', 'answers with each of its errors', async () => {
    for (const [status, code, source, more] of answers) {
      rig.published.set(REF, problem(source ?? 'not_found', 'made by the test'));
      const answer = await post('', { name: REF, ...more });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
    rig.publish(REF, { name: 'format' });
    await mkdir(join(rig.home, '.alpha/skills/format'), { recursive: true });
    expect((await post('', { name: REF })).status).toBe(409);
    expect((await post('', { name: REF, force: true })).status).toBe(201);
    await rm(join(rig.state, 'skills'), { recursive: true });
    await damage();
    expect(await post('', { name: REF })).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(await post('', { name: REF, project_root: rig.root })).toMatchObject({ status: 500 });
  });

  it('answers 403 for a skill that is not signed', async () => {
    rig.publish(REF, { name: 'format' });
    expect(await post('', inProject({ allow_unsigned: false }))).toMatchObject({
      status: 403,
      body: { code: 'signature_refused', detail: expect.stringContaining('allow_unsigned') },
    });
  });
});

describe('reading installed skills over HTTP', () => {
  proves(
    ['manager.skills.list-200', 'manager.skills.list-query', 'manager.state.skill-scopes'],
    'lists those that match all filters',
    async () => {
      rig.publish(REF, { name: 'format' });
      rig.publish('registry.test/skills/other:1', { name: 'other' });
      expect((await host.request('GET', SKILLS)).body).toEqual({ skills: [] });
      await post('', { name: REF, clients: ['alpha'] });
      await post('', inProject({ clients: ['beta'] }));
      await post('', { name: 'registry.test/skills/other:1', scope: 'user', clients: ['beta'] });
      const found = async (filter: Readonly<Record<string, string>>) => {
        const { status, body } = await host.request('GET', `${SKILLS}${query(filter)}`);
        expect(status).toBe(200);
        return body.skills.map(({ metadata, scope }: { metadata: { name: string }; scope: string }) => [
          metadata.name,
          scope,
        ]);
      };
      expect(await found({})).toEqual([
        ['format', 'user'],
        ['format', 'project'],
        ['other', 'user'],
      ]);
      expect(await found({ scope: 'project' })).toEqual([['format', 'project']]);
      expect(await found({ client: 'beta' })).toEqual([
        ['format', 'project'],
        ['other', 'user'],
      ]);
      expect(await found({ project_root: `${rig.root}/` })).toEqual([['format', 'project']]);
      expect(await found({ group: 'none' })).toEqual([]);
      expect(await found({ client: 'beta', scope: 'user', group: 'default' })).toEqual([['other', 'user']]);
      expect((await host.request('GET', `${SKILLS}?scope=global`)).status).toBe(400);
    },
  );

  proves(
    [
      'manager.skills.details-200',
      'manager.skills.details-query',
      'manager.skills.details-400',
      'manager.skills.details-404',
    ],
    'shows one of them',
    async () => {
      rig.publish(REF, { name: 'format' });
      await post('', inProject());
      const project = query({ scope: 'project', project_root: rig.root });
      const { status, body } = await host.request('GET', `${SKILLS}/format${project}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        installed_skill: { scope: 'project', managed: true, metadata: { name: 'format' } },
        metadata: { name: 'format', description: 'about format' },
      });
      expect((await host.request('GET', `${SKILLS}/format`)).status).toBe(404);
      expect((await host.request('GET', `${SKILLS}/format?scope=user`)).status).toBe(404);
      for (const wrong of ['?scope=project', '?project_root=relative', '?scope=none', `${project}&more=1`])
        expect((await host.request('GET', `${SKILLS}/format${wrong}`)).status, wrong).toBe(400);
      expect((await host.request('GET', `${SKILLS}/Not%20a%20name`)).status).toBe(400);
    },
  );

  proves(['manager.skills.list-500', 'manager.skills.details-500'], 'answers 500 for a damaged record', async () => {
    await damage();
    for (const path of [SKILLS, `${SKILLS}/format`])
      expect(await host.request('GET', path)).toMatchObject({ status: 500, body: { code: 'internal_error' } });
  });
});

describe('uninstalling over HTTP', () => {
  proves(
    ['manager.skills.uninstall-204', 'manager.skills.uninstall-query', 'manager.skills.uninstall-errors'],
    'removes it from one scope',
    async () => {
      rig.publish(REF, { name: 'format' });
      await post('', inProject());
      await post('', { name: REF });
      const project = query({ scope: 'project', project_root: rig.root });
      const done = await host.request('DELETE', `${SKILLS}/format${project}`);
      expect([done.status, done.text]).toEqual([204, '']);
      expect((await host.request('DELETE', `${SKILLS}/format${project}`)).status).toBe(404);
      expect((await host.request('DELETE', `${SKILLS}/format?scope=project`)).status).toBe(400);
      expect((await host.request('DELETE', `${SKILLS}/format`)).status).toBe(204);
      expect(await rig.read(rig.home)).toEqual({});
      await damage();
      expect((await host.request('DELETE', `${SKILLS}/format`)).status).toBe(500);
    },
  );
});

describe('syncing over HTTP', () => {
  proves(
    [
      'manager.skills.sync-200',
      'manager.skills.sync-restores-lock',
      'manager.sync-result.lists',
      'manager.sync-result.failed',
      'manager.sync-result.failed-reason',
      'manager.state.failure-registry-unreachable',
    ],
    'makes the project what its lock file says',
    async () => {
      for (const name of ['current', 'edited', 'gone', 'left', 'unreachable']) {
        rig.publish(`registry.test/skills/${name}:1`, { name });
        await post('', inProject({ name: `registry.test/skills/${name}:1`, clients: ['alpha'] }));
      }
      const folder = join(rig.root, '.alpha/skills');
      const files = await rig.read(folder);
      const lock = join(rig.root, 'toolmgr.lock.yaml');
      await writeFile(lock, (await readFile(lock, 'utf8')).replace(/ {2}- name: left\n( {4}.*\n)+/, ''));
      await writeFile(join(folder, 'edited/SKILL.md'), 'edited');
      await host.request('DELETE', `${SKILLS}/gone${query({ project_root: rig.root })}`);
      const gone = rig.publish('registry.test/skills/gone:1', { name: 'gone' });
      const entry = `  - name: gone\n    source: registry.test/skills/gone:1\n    resolvedReference: ${gone.resolvedReference}\n    digest: ${gone.digest}\n    contentDigest: ${gone.contentDigest}\n    unsigned: true\n    explicit: true\n`;
      await writeFile(lock, `${await readFile(lock, 'utf8')}${entry}`);
      await rm(join(folder, 'unreachable'), { recursive: true });
      for (const [reference] of rig.published)
        if (reference.includes('unreachable')) rig.published.set(reference, problem('upstream_failed', 'it is down'));
      const { status, body } = await post('/sync', { project_root: rig.root, clients: ['alpha'], prune: true });
      expect(status).toBe(200);
      expect(body).toEqual({
        already_current: ['current'],
        drifted: ['edited'],
        installed: ['gone'],
        missing: [],
        never_managed: [],
        pruned: ['left'],
        removed_from_lock: ['left'],
        failed: [{ name: 'unreachable', error: 'it is down', reason: 'registry-unreachable' }],
      });
      const { 'left/SKILL.md': _, 'unreachable/SKILL.md': __, ...wanted } = files;
      expect(await rig.read(folder)).toEqual(wanted);
    },
  );

  proves(
    ['manager.skills.sync-400', 'manager.skills.sync-403', 'manager.skills.sync-500', 'manager.skills.sync-501'],
    'answers with each of its errors',
    async () => {
      for (const wrong of ['relative', `${rig.root}/..`, join(rig.base, 'none')])
        expect((await post('/sync', { project_root: wrong })).status, wrong).toBe(400);
      expect((await post('/sync', {})).status).toBe(400);
      await writeFile(join(rig.root, 'toolmgr.lock.yaml'), 'version: 7\n');
      const later = await post('/sync', { project_root: rig.root });
      expect([later.status, later.body.detail]).toEqual([400, expect.stringContaining('has version 7')]);
      await rm(join(rig.root, 'toolmgr.lock.yaml'));
      await damage();
      expect((await post('/sync', { project_root: rig.root })).status).toBe(500);
      await takeAway();
      expect((await post('/sync', { project_root: rig.root })).status).toBe(403);
      const remote = await startHost(false);
      const answer = await remote.request('POST', `${SKILLS}/sync`, { project_root: rig.root });
      expect([answer.status, answer.body.code]).toEqual([501, 'not_implemented']);
    },
  );
});

/** Makes the project one of another user, or one that cannot be read. */
async function takeAway(): Promise<void> {
  if (process.geteuid?.() === 0) return chown(rig.root, 12_345, 12_345);
  await chmod(rig.base, 0o000);
  onTestFinished(() => chmod(rig.base, 0o700));
}

describe('upgrading over HTTP', () => {
  proves(
    [
      'manager.skills.upgrade-200',
      'manager.skills.upgrade-re-resolves',
      'manager.upgrade-outcome.strings',
      'manager.upgrade-outcome.status',
      'manager.state.upgrade-outcome-upgraded',
    ],
    'installs what is newer',
    async () => {
      const old = rig.publish(REF, { name: 'format' });
      const down = rig.publish('registry.test/skills/zero:1', { name: 'zero' });
      await post('', inProject());
      await post('', inProject({ name: 'registry.test/skills/zero:1' }));
      const next = rig.publish(REF, { name: 'format', text: 'newer' });
      rig.published.set('registry.test/skills/zero:1', problem('upstream_failed', 'it is down'));
      const { status, body } = await post('/upgrade', { project_root: rig.root });
      expect(status).toBe(200);
      expect(body).toEqual({
        outcomes: [
          {
            name: 'format',
            status: 'upgraded',
            old_digest: old.digest,
            new_digest: next.digest,
            new_resolved_reference: next.resolvedReference,
          },
          {
            name: 'zero',
            status: 'failed',
            old_digest: down.digest,
            error: 'it is down',
            reason: 'registry-unreachable',
          },
        ],
      });
      expect(await readFile(join(rig.root, '.alpha/skills/format/SKILL.md'), 'utf8')).toBe('newer');
    },
  );

  proves('manager.skills.upgrade-errors', 'answers with each of its errors', async () => {
    expect((await post('/upgrade', { project_root: 'relative' })).status).toBe(400);
    expect((await post('/upgrade', { project_root: rig.root, names: ['none'] })).status).toBe(404);
    await damage();
    expect((await post('/upgrade', { project_root: rig.root })).status).toBe(500);
    await takeAway();
    expect((await post('/upgrade', { project_root: rig.root })).status).toBe(403);
    const remote = await startHost(false);
    expect((await remote.request('POST', `${SKILLS}/upgrade`, { project_root: rig.root })).status).toBe(501);
  });
});
