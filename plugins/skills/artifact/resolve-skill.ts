import { type ImageReference, openRepository } from '@toolmgr/plugins/kit/oci';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { fetchGitSkill } from '../git/fetch-git-skill.ts';
import { LIMITS } from '../limits.ts';
import { openBuildStore, skillStoreFolder } from '../oci/build-store.ts';
import { readArtifact } from '../oci/read-artifact.ts';
import type { SkillArtifact } from './artifact.ts';
import { findInRegistry } from './find-in-registry.ts';
import { skillFrom } from './read-skill.ts';
import type { ResolveOptions, SkillResolution } from './resolve-options.ts';
import { parseSkillReference } from './skill-reference.ts';
import { upstreamProblem } from './upstream-problem.ts';

export type { ResolveOptions, SkillResolution } from './resolve-options.ts';

/**
 * Reads a skill: a git reference, a tag of a local build, an OCI reference, or a name in a registry. Nothing is installed.
 *
 * Refusals: `bad_request`, `upstream_unauthorized`, `not_found`, `conflict` (several skills with the name), `unprocessable` (the
 * artifact is not a valid skill), `upstream_rate_limited`, `upstream_failed`, `upstream_timeout`.
 * Source: reference workload-api §5.3, §5.4.
 */
export function resolveSkill(reference: string, options: ResolveOptions): Promise<SkillResolution> {
  return resolved(reference, options, true);
}

/** `isGiven`: no registry gave the reference. */
async function resolved(reference: string, options: ResolveOptions, isGiven: boolean): Promise<SkillResolution> {
  const parsed = parseSkillReference(reference);
  if ('problem' in parsed)
    return problem('bad_request', `The reference ${JSON.stringify(reference)} is not valid: ${parsed.problem}.`);
  if (parsed.kind === 'git') return fetchGitSkill(parsed, reference, options);
  const name = parsed.kind === 'name' ? parsed.name : undefined;
  const local = isGiven ? await localSkill(reference, name, options) : undefined;
  if (local !== undefined) return local;
  if (parsed.kind === 'name') return inRegistry({ name: parsed.name }, reference, options);
  const pulled = await pullSkill(parsed.image, reference, options);
  if (!('problem' in pulled) || parsed.inRegistry === undefined || options.lookUp === undefined) return pulled;
  const found = await inRegistry(parsed.inRegistry, reference, options);
  // without a skill in the registry, the answer is about the OCI reference
  return 'problem' in found && found.problem === 'not_found' ? pulled : found;
}

async function inRegistry(
  wanted: { readonly namespace?: string; readonly name: string },
  reference: string,
  options: ResolveOptions,
): Promise<SkillResolution> {
  const { lookUp, isNamedByUser: _, ...rest } = options;
  const listed = await findInRegistry(wanted, lookUp, options.signal);
  if ('problem' in listed) return listed;
  const allowPrivateAddresses = options.allowPrivateAddresses === true || listed.allowsPrivateAddresses;
  let refusal: Problem | undefined;
  for (const each of listed.references) {
    const found = await resolved(each, { ...rest, allowPrivateAddresses }, false);
    if (!('problem' in found)) return { artifact: { ...found.artifact, source: reference } };
    refusal ??= found;
  }
  return (
    refusal ?? problem('unprocessable', `The skill ${JSON.stringify(reference)} has no package that can be installed.`)
  );
}

/** A build with this tag, else the only build of a skill with this name. */
async function localSkill(
  tag: string,
  name: string | undefined,
  options: ResolveOptions,
): Promise<SkillResolution | undefined> {
  const store = openBuildStore(options.store ?? skillStoreFolder(options.env));
  const builds = await store.list();
  const named = builds.filter((each) => each.name === name);
  const found = builds.find((each) => each.tag === tag) ?? named[0];
  if (found === undefined) return undefined;
  if (found.tag !== tag && new Set(named.map(({ digest }) => digest)).size > 1) {
    const tags = named.map((each) => each.tag).join(', ');
    return problem(
      'conflict',
      `Several local builds have the skill ${JSON.stringify(tag)}: give one of the tags ${tags}.`,
    );
  }
  const read = await readArtifact(store.reader, found.digest, options.signal);
  if (!('files' in read)) {
    const why = read.kind === 'missing' ? 'its contents are missing' : read.reason;
    return problem('unprocessable', `The local build ${JSON.stringify(found.tag)} is not usable: ${why}.`);
  }
  const { digest } = read;
  return skillFrom(read.files, { kind: 'local', digest, resolvedReference: found.tag, source: tag, tag: found.tag });
}

async function pullSkill(image: ImageReference, reference: string, options: ResolveOptions): Promise<SkillResolution> {
  const late = AbortSignal.timeout(LIMITS.pullMs);
  const signal = AbortSignal.any([options.signal, late]);
  const what = `The skill ${JSON.stringify(reference)} could not be pulled`;
  const tag = image.tag ?? (image.digest === undefined ? (options.version ?? 'latest') : undefined);
  if (tag !== undefined && !TAG.test(tag))
    return problem('bad_request', `The version ${JSON.stringify(tag)} is no tag.`);
  try {
    await using repository = openRepository(image.registry, image.repository, {
      allowPrivateAddresses: options.allowPrivateAddresses === true,
      signal,
      maxManifestBytes: LIMITS.manifestBytes,
      env: options.env,
    });
    const read = await readArtifact(repository, image.digest ?? tag ?? 'latest', signal);
    if (!('files' in read)) {
      if (read.kind === 'missing') return problem('not_found', `${what}: its registry does not have it.`);
      return problem('unprocessable', `${what}: ${read.reason}.`);
    }
    const { registry, repository: path } = image;
    const made = skillFrom(read.files, {
      kind: 'oci',
      digest: read.digest,
      resolvedReference: `${registry}/${path}@${read.digest}`,
      source: reference,
      ...(tag === undefined ? {} : { tag }),
    });
    return 'problem' in made ? made : namedLikeRepository(made, path);
  } catch (cause) {
    return upstreamProblem(what, cause, signal);
  }
}

const TAG = /^\w[\w.-]{0,127}$/;

/** Another name would be a skill that pretends to be another one. */
function namedLikeRepository(made: { readonly artifact: SkillArtifact }, path: string): SkillResolution {
  const last = path.slice(path.lastIndexOf('/') + 1);
  const { name, source } = made.artifact;
  if (name === last) return made;
  const both = `its SKILL.md has the name ${JSON.stringify(name)}, its repository ${JSON.stringify(last)}`;
  return problem('unprocessable', `${JSON.stringify(source)} is not accepted: ${both}.`);
}
