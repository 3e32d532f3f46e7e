import { isAbsolute } from 'node:path';
import { parseImageReference } from '@toolmgr/plugins/kit/oci';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { folderPathProblem } from '../files/read-folder.ts';
import { LIMITS } from '../limits.ts';
import { openBuildStore, skillStoreFolder } from '../oci/build-store.ts';
import { packArtifact } from '../oci/pack-artifact.ts';
import { readFolderSkill } from './validate-folder.ts';

/** What a build needs. */
export interface BuildOptions {
  /** Folder of local builds. Default: `skillStoreFolder(env)`. */
  readonly store?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A stored build. `reference` is its tag. */
export interface BuiltSkill {
  readonly reference: string;
  readonly digest: string;
  readonly warnings: readonly string[];
}

/**
 * Builds the OCI artifact of a skill in a folder and stores it under a tag: a word or a complete OCI reference, by default the
 * name of the skill. The time of its files is `SOURCE_DATE_EPOCH`, else the epoch.
 *
 * Refusals: `bad_request` (path, tag, `SOURCE_DATE_EPOCH`), `unprocessable` (the skill is not valid).
 * Source: reference workload-api §5.2; reproducible-builds.org, SOURCE_DATE_EPOCH.
 */
export async function buildSkill(
  path: string,
  tag: string | undefined,
  { store, env }: BuildOptions,
): Promise<BuiltSkill | Problem> {
  const wrong = isAbsolute(path) ? folderPathProblem(path) : 'the path is not absolute';
  if (wrong !== undefined) return problem('bad_request', `The skill cannot be built: ${wrong}.`);
  if (tag !== undefined && !isBuildTag(tag)) return problem('bad_request', tagProblem(tag));
  const seconds = Number(env.SOURCE_DATE_EPOCH || 0);
  if (!Number.isSafeInteger(seconds) || seconds < 0 || seconds > MAX_SECONDS)
    return problem('bad_request', 'SOURCE_DATE_EPOCH is not a number of seconds.');
  const skill = await readFolderSkill(path);
  if (!skill.valid) return problem('unprocessable', `The skill in ${path} is not valid: ${skill.errors.join('; ')}.`);
  const artifact = await packArtifact(skill.fields, skill.files, seconds);
  const largest = Math.max(...artifact.blobs.map(({ bytes }) => bytes.length));
  if (largest > LIMITS.layerBytes)
    return problem(
      'unprocessable',
      `The skill in ${path} is larger than ${LIMITS.layerBytes / 1024 ** 2} MB compressed.`,
    );
  const reference = tag ?? skill.fields.name;
  await openBuildStore(store ?? skillStoreFolder(env)).add(reference, artifact);
  return { reference, digest: artifact.index.digest, warnings: skill.warnings };
}

const MAX_SECONDS = 0xffff_ffff; // tar has eleven octal digits; dates beyond this are errors
const PLAIN_TAG = /^\w[\w.-]{0,127}$/;

/** Whether a text is a tag of a build: a word, or an OCI reference without a digest. */
export function isBuildTag(tag: string): boolean {
  return (
    PLAIN_TAG.test(tag) ||
    (tag.includes('/') && parseImageReference(tag)?.digest === undefined && parseImageReference(tag) !== undefined)
  );
}

/** The sentence for a tag that is not valid. */
export function tagProblem(tag: string): string {
  const shown = JSON.stringify(tag.slice(0, LIMITS.referenceLength));
  return `The tag ${shown} is not valid: expected a word, or an OCI reference without a digest.`;
}
