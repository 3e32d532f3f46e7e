import {
  checkProjectRoot,
  type Operation,
  type OperationContext,
  operation,
  type Problem,
  problem,
} from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import type { SkillScope } from '../records/skill-record.ts';
import { installSkill } from './install.ts';
import { installedSkill, listSkills, skillDetails } from './installed-skill.ts';
import type { SkillDeps } from './skill-deps.ts';
import {
  INSTALLED_EXAMPLE,
  installBody,
  installedSkillShape,
  projectRootField,
  SYNC_EXAMPLE,
  scopeField,
  skillNameParam,
  syncBody,
  syncResultShape,
  UPGRADE_EXAMPLE,
  upgradeBody,
  upgradeResultShape,
} from './skill-shapes.ts';
import { syncSkills } from './sync.ts';
import { uninstallSkill } from './uninstall.ts';
import { upgradeSkills } from './upgrade.ts';

/** What the operations of installed skills need. */
export interface InstallOperationDeps {
  readonly skills: SkillDeps;
  /** Whether projects on this machine are served: not by a manager whose callers are on other machines. */
  readonly servesProjects: boolean;
}

const PATH = '/api/v1beta/skills';
const TAG = 'Skills';
const READ_PROBLEMS = [
  'upstream_unauthorized',
  'upstream_rate_limited',
  'upstream_failed',
  'upstream_timeout',
  'unprocessable',
] as const;
const scopeQuery = z.strictObject({ scope: scopeField, project_root: projectRootField.optional() });

/** The operations of installed skills. Source: workload API spec §4 Skills. */
export function installOperations({ skills, servesProjects }: InstallOperationDeps): readonly Operation[] {
  const projectOf = async (root: string): Promise<{ readonly root: string } | Problem> =>
    servesProjects
      ? checkProjectRoot(root)
      : problem('not_implemented', 'this manager serves other machines: the lock files of their projects are not here');
  const scopeOf = (given: ScopeGiven) => readScopeGiven(given, projectOf);
  return [
    operation({
      id: 'listSkills',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'List all installed skills',
      description: 'Sorted by name. All filters must match.',
      query: z.strictObject({
        scope: z.enum(['user', 'project']).optional().describe('only those of this scope'),
        client: z.string().optional().describe('only those of this client'),
        project_root: z.string().optional().describe('only those of this project'),
        group: z.string().optional().describe('only those of this group'),
      }),
      answers: {
        200: {
          description: 'The installed skills.',
          schema: z.object({ skills: z.array(installedSkillShape) }),
          example: { skills: [INSTALLED_EXAMPLE] },
        },
      },
      problems: [],
      tool: { name: 'list_skills', readOnly: true },
      async run({ query: { project_root: projectRoot, ...filter } }) {
        const found = await listSkills(skills.state, {
          ...filter,
          ...(projectRoot === undefined ? {} : { projectRoot: projectRoot.replace(/(.)\/+$/, '$1') }),
        } as Parameters<typeof listSkills>[1]);
        return { status: 200, body: { skills: found } };
      },
    }),
    operation({
      id: 'installSkill',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Install a skill',
      description:
        'From a local build, an OCI registry, a git repository or a registry of skills, with the skills that it needs. Everything is written, or nothing. In project scope the signature is checked, and the skill is written to `toolmgr.lock.yaml`.',
      body: installBody,
      bodyExample: { name: 'ghcr.io/example/skills/code-review', version: '1.2.0' },
      answers: {
        201: {
          description: 'The installed skill. It may have been installed already.',
          schema: z.object({
            skill: installedSkillShape,
            changed: z.array(z.string()).describe('names of the skills that were installed or changed, sorted'),
          }),
          example: { skill: INSTALLED_EXAMPLE, changed: [INSTALLED_EXAMPLE.metadata.name] },
          headers: { Location: 'the installed skill' },
        },
      },
      problems: ['signature_refused', 'forbidden', 'not_found', 'conflict', 'not_implemented', ...READ_PROBLEMS],
      timeLimit: 'long',
      // it gives every agent instructions of the caller's choice, and replaces what was in the folder, so the person confirms it
      tool: { name: 'install_skill', destructive: true },
      async run({ body, context }) {
        const scope = await scopeOf(body);
        if ('problem' in scope) return scope;
        const { version, clients, force, allow_unsigned: allowUnsigned, group } = body;
        const done = await installSkill(
          skills,
          {
            name: body.name,
            isNamedByUser: context.isByAgent !== true,
            scope,
            ...(version === undefined ? {} : { version }),
            ...(clients === undefined ? {} : { clients }),
            ...(force === undefined ? {} : { force }),
            ...(allowUnsigned === undefined ? {} : { allowUnsigned }),
            ...(group === undefined ? {} : { group }),
          },
          context.signal,
        );
        if ('problem' in done) return done;
        publishAll(context, done.changed);
        const skill = await installedSkill(skills.state, done.record);
        const headers = { Location: `${PATH}/${skill.metadata.name}` };
        return { status: 201, body: { skill, changed: done.changed }, headers };
      },
    }),
    operation({
      id: 'getSkill',
      method: 'GET',
      path: `${PATH}/{name}`,
      tag: TAG,
      summary: 'Get skill details',
      params: z.strictObject({ name: skillNameParam }),
      query: scopeQuery,
      answers: {
        200: {
          description: 'The skill.',
          schema: z.object({ installed_skill: installedSkillShape, metadata: installedSkillShape.shape.metadata }),
          example: { installed_skill: INSTALLED_EXAMPLE, metadata: INSTALLED_EXAMPLE.metadata },
        },
      },
      problems: ['forbidden', 'not_found', 'not_implemented'],
      async run({ path, query }) {
        const scope = await scopeOf(query);
        if ('problem' in scope) return scope;
        const found = await skillDetails(skills.state, path.name, scope);
        if ('problem' in found) return found;
        return { status: 200, body: { installed_skill: found.skill, metadata: found.skill.metadata } };
      },
    }),
    operation({
      id: 'uninstallSkill',
      method: 'DELETE',
      path: `${PATH}/{name}`,
      tag: TAG,
      summary: 'Uninstall a skill',
      description: 'Skills that only it needed are uninstalled too. A skill that others need is refused.',
      params: z.strictObject({ name: skillNameParam }),
      query: scopeQuery,
      answers: { 204: { description: 'The skill is uninstalled.' } },
      problems: ['forbidden', 'not_found', 'not_implemented'],
      tool: { name: 'uninstall_skill', destructive: true },
      async run({ path, query, context }) {
        const scope = await scopeOf(query);
        if ('problem' in scope) return scope;
        const done = await uninstallSkill(skills, path.name, scope);
        if ('problem' in done) return done;
        publishAll(context, done.removed);
        return { status: 204 };
      },
    }),
    operation({
      id: 'syncSkills',
      method: 'POST',
      path: `${PATH}/sync`,
      tag: TAG,
      summary: 'Sync project skills from the lock file',
      description:
        'Makes the skills of a project what its `toolmgr.lock.yaml` says. A skill that fails is in `failed`.',
      body: syncBody,
      bodyExample: { project_root: '/home/ann/shop', check: true },
      answers: { 200: { description: 'What was found and done.', schema: syncResultShape, example: SYNC_EXAMPLE } },
      problems: ['forbidden', 'not_implemented'],
      timeLimit: 'long',
      async run({ body, context }) {
        const { project_root, allow_unsigned: allowUnsigned, ...given } = body;
        const project = await projectOf(project_root);
        if ('problem' in project) return project;
        const request = { ...project, ...given, ...(allowUnsigned === undefined ? {} : { allowUnsigned }) };
        const result = await syncSkills(skills, request as Parameters<typeof syncSkills>[1], context.signal);
        if ('problem' in result) return result;
        const drifted = body.check === true ? [] : result.drifted;
        publishAll(context, [...result.installed, ...drifted, ...result.pruned]);
        return { status: 200, body: result };
      },
    }),
    operation({
      id: 'upgradeSkills',
      method: 'POST',
      path: `${PATH}/upgrade`,
      tag: TAG,
      summary: 'Upgrade project skills',
      description:
        'Reads the sources of the lock file again and installs what is newer. Another repository or signer is refused unless allowed.',
      body: upgradeBody,
      bodyExample: { project_root: '/home/ann/shop', preview: true },
      answers: {
        200: { description: 'One outcome per skill.', schema: upgradeResultShape, example: UPGRADE_EXAMPLE },
      },
      problems: ['forbidden', 'not_found', 'not_implemented'],
      timeLimit: 'long',
      async run({ body, context }) {
        const project = await projectOf(body.project_root);
        if ('problem' in project) return project;
        const request = {
          ...project,
          names: body.names,
          preview: body.preview,
          failOnChanges: body.fail_on_changes,
          allowRefChange: body.allow_ref_change,
          allowSignerChange: body.allow_signer_change,
          clients: body.clients,
        };
        const result = await upgradeSkills(skills, request as Parameters<typeof upgradeSkills>[1], context.signal);
        if ('problem' in result) return result;
        const isDone = body.preview !== true && body.fail_on_changes !== true;
        publishAll(
          context,
          isDone ? result.outcomes.flatMap((one) => (one.status === 'upgraded' ? one.name : [])) : [],
        );
        return { status: 200, body: result };
      },
    }),
  ];
}

interface ScopeGiven {
  readonly scope?: 'user' | 'project' | undefined;
  readonly project_root?: string | undefined;
}

/** The scope that a request names: a project root without a scope means that project. */
async function readScopeGiven(
  { scope, project_root: root }: ScopeGiven,
  projectOf: (root: string) => Promise<{ readonly root: string } | Problem>,
): Promise<SkillScope | Problem> {
  if (scope === 'project' && root === undefined) return problem('bad_request', 'scope project needs project_root');
  if (scope === 'user' && root !== undefined)
    return problem('bad_request', 'scope user and project_root exclude each other');
  if (root === undefined) return { scope: 'user' };
  const project = await projectOf(root);
  return 'problem' in project ? project : { scope: 'project', root: project.root };
}

function publishAll(context: OperationContext, names: readonly string[]): void {
  for (const name of names) context.publish({ type: 'skill', name });
}
