import { type Operation, operation, type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { buildSkill } from './artifact/build-skill.ts';
import { type PushOptions, pushSkill } from './artifact/push-skill.ts';
import type { ResolveOptions, SkillResolution } from './artifact/resolve-options.ts';
import { readFolderSkill } from './artifact/validate-folder.ts';
import {
  buildBody,
  buildsShape,
  builtShape,
  CONTENT_EXAMPLE,
  contentQuery,
  pushBody,
  skillContentShape,
  validateBody,
  validationShape,
} from './artifact-shapes.ts';
import { folderPathProblem } from './files/read-folder.ts';
import { LIMITS } from './limits.ts';
import { openBuildStore } from './oci/build-store.ts';
import type { SigningChoice } from './signature/sign-digest.ts';
import { createTurns } from './turns.ts';

/** What the operations of artifacts need. */
export interface ArtifactOperationDeps {
  /** Reads a skill from its source. */
  resolve(reference: string, options: Pick<ResolveOptions, 'signal' | 'isNamedByUser'>): Promise<SkillResolution>;
  /** Folder of local builds. */
  readonly store: string;
  readonly env: NodeJS.ProcessEnv;
  /** Settings of the user at that moment. */
  pushSettings(): Promise<Pick<PushOptions, 'allowPrivateAddresses' | 'fulcioUrl' | 'rekorUrl'>>;
  /** Whether folders and keys on this machine are read: not by a manager whose callers are on other machines. */
  readonly servesFiles: boolean;
}

const PATH = '/api/v1beta/skills';
const TAG = 'Skills';
/** Skills that are in memory at the same time: each may need as much as the limit of an installation. */
const READS_AT_ONCE = 2;
const UPSTREAM = ['upstream_unauthorized', 'upstream_rate_limited', 'upstream_failed', 'upstream_timeout'] as const;

/** The operations of artifacts of skills. Source: workload API spec §4 Skills, reference workload-api §1.2. */
export function artifactOperations(deps: ArtifactOperationDeps): readonly Operation[] {
  const turns = createTurns(READS_AT_ONCE);
  const store = openBuildStore(deps.store);
  return [
    operation({
      id: 'getSkillContent',
      method: 'GET',
      path: `${PATH}/content`,
      tag: TAG,
      summary: 'Get skill content',
      description:
        'Reads SKILL.md and the list of files from an artifact without installing it. Accepts OCI references, git references, tags of local builds, and names of skills in a registry.',
      query: contentQuery,
      answers: { 200: { description: 'the content', schema: skillContentShape, example: CONTENT_EXAMPLE } },
      problems: ['not_found', 'conflict', 'unprocessable', ...UPSTREAM],
      timeLimit: 'long',
      tool: { name: 'get_skill_content', readOnly: true },
      run: ({ query, context: { signal, isByAgent } }) =>
        turns.run(signal, async () => {
          const read = await deps.resolve(query.ref, { signal, isNamedByUser: isByAgent !== true });
          if ('problem' in read) return read;
          const { name, description, version = '', license = '', body, files } = read.artifact;
          const listed = files.map(({ path, size }) => ({ path, size }));
          const { resolvedReference: reference, digest } = read.artifact;
          const content = { name, description, version, license, body, files: listed, reference, digest };
          return { status: 200, body: content };
        }),
    }),
    operation({
      id: 'validateSkill',
      method: 'POST',
      path: `${PATH}/validate`,
      tag: TAG,
      summary: 'Validate a skill',
      description: 'Checks a folder with SKILL.md. A skill that is not valid is an answer too.',
      body: validateBody,
      bodyExample: { path: '/home/ann/skills/code-review' },
      answers: {
        200: {
          description: 'the result',
          schema: validationShape,
          example: { valid: false, errors: ['description is missing in the front matter of SKILL.md'], warnings: [] },
        },
      },
      problems: ['not_implemented'],
      tool: { name: 'validate_skill', readOnly: true },
      run: ({ body: { path }, context: { signal } }) =>
        turns.run(signal, async () => {
          const refusal = fileRefusal(deps, 'path', folderPathProblem(path));
          if (refusal !== undefined) return refusal;
          const { valid, errors, warnings } = await readFolderSkill(path);
          return { status: 200, body: { valid, errors, warnings } };
        }),
    }),
    operation({
      id: 'buildSkill',
      method: 'POST',
      path: `${PATH}/build`,
      tag: TAG,
      summary: 'Build a skill',
      description: 'Makes the OCI artifact of a skill in a folder and stores it as a local build.',
      body: buildBody,
      bodyExample: { path: '/home/ann/skills/code-review', tag: 'ghcr.io/example/skills/code-review:1.2.0' },
      answers: {
        200: {
          description: 'the build',
          schema: builtShape,
          example: {
            reference: 'ghcr.io/example/skills/code-review:1.2.0',
            digest: `sha256:${'0'.repeat(64)}`,
            warnings: [],
          },
        },
      },
      problems: ['unprocessable', 'not_implemented'],
      timeLimit: 'long',
      // a tag that others install from has another content then, so the person confirms it
      tool: { name: 'build_skill', destructive: true, idempotent: true },
      run: ({ body: { path, tag }, context }) =>
        turns.run(context.signal, async () => {
          const refusal = fileRefusal(deps, 'path', folderPathProblem(path));
          if (refusal !== undefined) return refusal;
          const built = await buildSkill(path, tag, { store: deps.store, env: deps.env });
          if ('problem' in built) return built;
          context.publish({ type: 'skill', name: built.reference });
          return { status: 200, body: built };
        }),
    }),
    operation({
      id: 'pushSkill',
      method: 'POST',
      path: `${PATH}/push`,
      tag: TAG,
      summary: 'Push a skill',
      description:
        'Pushes a local build to its registry and signs it. Exactly one of `key`, `identity_token` and `no_sign` is needed.',
      body: pushBody,
      bodyExample: { reference: 'ghcr.io/example/skills/code-review:1.2.0', no_sign: true },
      answers: { 204: { description: 'the skill is pushed' } },
      problems: ['not_found', 'not_implemented', ...UPSTREAM],
      timeLimit: 'long',
      async run({ body, context: { signal } }) {
        const choice = signingChoice(body);
        if ('problem' in choice) return choice;
        const refusal = choice.kind === 'key' ? fileRefusal(deps, 'key', undefined) : undefined;
        if (refusal !== undefined) return refusal;
        const settings = await deps.pushSettings();
        const { store: folder, env } = deps;
        const pushed = await turns.run(signal, () =>
          pushSkill(body.reference, choice, { ...settings, store: folder, env, signal }),
        );
        return 'problem' in pushed ? pushed : { status: 204 };
      },
    }),
    operation({
      id: 'listSkillBuilds',
      method: 'GET',
      path: `${PATH}/builds`,
      tag: TAG,
      summary: 'List local builds of skills',
      answers: {
        200: {
          description: 'the builds',
          schema: buildsShape,
          example: {
            builds: [
              {
                tag: 'code-review',
                digest: `sha256:${'0'.repeat(64)}`,
                name: 'code-review',
                description: 'Reviews a change.',
                version: '1.2.0',
              },
            ],
          },
        },
      },
      problems: [],
      tool: { name: 'list_skill_builds', readOnly: true },
      run: async () => ({ status: 200, body: { builds: await store.list() } }),
    }),
    operation({
      id: 'deleteSkillBuild',
      method: 'DELETE',
      path: `${PATH}/builds/{tag}`,
      tag: TAG,
      summary: 'Delete a local build of a skill',
      params: z.strictObject({
        tag: z.string().min(1).max(LIMITS.referenceLength).describe('tag of the build; slashes are URL-encoded'),
      }),
      answers: { 204: { description: 'the build is deleted' } },
      problems: ['not_found'],
      tool: { name: 'delete_skill_build', destructive: true, idempotent: true },
      async run({ path: { tag }, context }) {
        if (!(await store.remove(tag)))
          return problem('not_found', `There is no local build with the tag ${JSON.stringify(tag)}.`);
        context.publish({ type: 'skill', name: tag });
        return { status: 204 };
      },
    }),
  ];
}

/** A refusal for a path in a body. */
function fileRefusal(
  { servesFiles }: ArtifactOperationDeps,
  member: string,
  wrong: string | undefined,
): Problem | undefined {
  if (!servesFiles) return problem('not_implemented', 'This manager serves other machines: their files are not here.');
  if (wrong === undefined) return undefined;
  return problem('bad_request', `${member} is not valid: ${wrong}.`, [{ in: 'body', path: member, detail: wrong }]);
}

/** How the body of a push says to sign. */
export function signingChoice({
  key,
  identity_token: token,
  no_sign: unsigned,
}: z.output<typeof pushBody>): SigningChoice | Problem {
  const choices: readonly (SigningChoice | undefined)[] = [
    key === undefined ? undefined : { kind: 'key', file: key },
    token === undefined ? undefined : { kind: 'identity-token', token },
    unsigned === true ? { kind: 'unsigned' } : undefined,
  ];
  const [choice, ...more] = choices.filter((each) => each !== undefined);
  if (choice !== undefined && more.length === 0) return choice;
  return problem('bad_request', 'Exactly one of key, identity_token and no_sign is needed.');
}
